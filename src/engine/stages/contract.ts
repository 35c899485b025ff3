import type { Json } from "../../base/canonical.ts"
import type { LeftOut } from "../../domain/pipeline/left-out.ts"
import type { Review } from "../../domain/pipeline/review.ts"
import type { PipelineState, StepState, Turn } from "../../domain/pipeline/state.ts"
import type { PlanTools } from "../../domain/plan/rules.ts"
import type { Stage } from "../../domain/stage.ts"
import type { ModelMessage, ToolDescription } from "../../provider/contract.ts"

/** A stage as data: its prompt, its tools, and the shape of its answer. */
export interface StageDefinition {
  readonly stage: Stage
  /** Names of its tools, `finish_step` among them; empty for stages that only answer with JSON. */
  readonly tools: readonly string[]
  /** Returns the tools for the present step, as they are described to the model. */
  offered(view: StageView): readonly ToolDescription[]
  /**
   * Returns the shape of an answer that is JSON. Where tools are offered as well, the model may answer or call them.
   */
  format(view: StageView): AnswerFormat | null
  /**
   * Returns the whole transcript for the next turn, built from the state and from the collected parts of the
   * workspace.
   */
  messages(view: StageView): readonly ModelMessage[]
  /** Parses an answer, or returns all its problems. Null for stages that answer by calling tools. */
  readonly read: ((text: string, view: StageView) => StageAnswer) | null
}

export interface AnswerFormat {
  readonly name: string
  readonly schema: Json
}

export type StageAnswer =
  | { readonly output: Json; readonly problems?: undefined }
  | { readonly problems: readonly string[]; readonly output?: undefined }

/** The dependencies of the stages. */
export interface StageParts {
  /** The facts about tools that check the concrete steps of a plan. */
  readonly planTools: PlanTools
  readonly toolDescriptions: readonly ToolDescription[]
}

/** The input of a stage: the state of the session, and the parts of the workspace that were read on entering it. */
export interface StageView {
  readonly state: PipelineState
  readonly step: StepState | null
  /** A short outline of the repository: directories, files or symbols, limited in size. */
  readonly outline: string
  /** True where the workspace has a code index: the tools that ask it are offered. */
  readonly hasCodeIndex: boolean
  /** AGENTS.md, CLAUDE.md: data about the project, marked as such. */
  readonly instructions: readonly ReadText[]
  /** Names and descriptions of the skills, one line each, limited in size; empty if there are none. */
  readonly skills: string
  /**
   * The files that a person wants a model to see from the beginning (`--context-files`), and for a step those that were
   * read or changed before it.
   */
  readonly files: readonly ReadText[]
  /**
   * The changes of the session for the verifier, the reviewer and a step that fixes them, as unified diffs, limited and
   * redacted.
   */
  readonly diff: string
  /** The findings of acode itself for the reviewer, such as refused actions. */
  readonly findings: readonly AcodeFinding[]
  /** The form of the results before the newest one. */
  readonly olderResults: OlderResults
  /** The parts of all of these that exceed their limits, and are not shown. */
  readonly leftOut: readonly LeftOut[]
}

/** The age of results: some are old ones, all are new ones, or all are old ones. */
export type OlderResults = "someOld" | "allNew" | "allOld"

/** A file as it was read. */
export interface ReadText {
  readonly path: string
  readonly text: string
  /** The estimated size of the part that was not read; omitted if it was read completely. */
  readonly leftOutTokens?: number
}

/** A text with the estimated size of the part that is not shown. */
export interface BoundedText {
  readonly text: string
  readonly leftOutTokens: number
}

/** A fact that acode established by itself. No model can approve against a critical one. */
export interface AcodeFinding {
  readonly severity: Review["findings"][number]["severity"]
  readonly text: string
}

/** Returns the answers that did not have the right shape, each with its exact problems. */
export function failedTries(turns: readonly Turn[]): readonly ModelMessage[] {
  return turns
    .filter(({ failure, problems }) => failure === null && problems.length > 0)
    .flatMap(({ text, problems }) => [
      { role: "assistant" as const, text, calls: [] },
      { role: "user" as const, text: correction(problems) },
    ])
}

export function correction(problems: readonly string[]): string {
  const listed = problems.map(problem => `- ${problem}`).join("\n")
  return `That answer cannot be used:\n${listed}\nAnswer again with the whole JSON object, and nothing else.`
}
