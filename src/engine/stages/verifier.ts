import type { Json } from "../../base/canonical.ts"
import type { Verdict } from "../../domain/events/pipeline-events.ts"
import { Judgement } from "../../domain/pipeline/review.ts"
import type { PipelineState, PlannedCheck } from "../../domain/pipeline/state.ts"
import { dataBlock, dataRule } from "../../domain/text/data-block.ts"
import { instructionBlocks } from "../context/instructions.ts"
import { shapedAnswer } from "./answer-shape.ts"
import { failedTries, type StageAnswer, type StageDefinition, type StageView } from "./contract.ts"
import { answerSchemas } from "./model-schemas.ts"

/** The verifier judges criteria that only judgement can decide; the checks of acode decide all others. */
export const verifierStage: StageDefinition = {
  stage: "verifier",
  tools: [],
  offered: () => [],
  format: () => format,
  messages: view => [
    { role: "system", text: systemPrompt },
    { role: "user", text: userPrompt(view) },
    ...failedTries(view.state.turns),
  ],
  read,
}

const format = { name: "verdicts", schema: answerSchemas.verdicts }

const systemPrompt = `You judge whether criteria hold for a change to a software project.
Judge by the change and by the results of the checks that were run, not by what others claim about them. If they do not
show whether a criterion holds, it is inconclusive.
Answer with one JSON object and nothing else, with each criterion you are asked about exactly once:
{ "criteria": [ { "id": "a5", "verdict": "passed" | "failed" | "inconclusive", "reason": "one or two sentences" } ] }
${dataRule()}`

function userPrompt({ state, instructions, diff }: StageView): string {
  const asked = judged(state).map(({ key, text }) => `${key}: ${text}`)
  const results = state.verification?.checks.map(
    ({ criterionId, verdict, reason }) => `${criterionId}: ${verdict}, ${reason}`,
  )
  return [
    "Judge these criteria.",
    dataBlock({ type: "request" }, state.request),
    ...instructionBlocks(instructions),
    dataBlock({ type: "criteria" }, asked.join("\n")),
    dataBlock({ type: "change" }, diff === "" ? "nothing was changed" : diff),
    dataBlock({ type: "results of checks" }, results?.join("\n") || "no check was run"),
  ].join("\n\n")
}

function read(text: string, { state }: StageView): StageAnswer {
  const { value, problems } = shapedAnswer(text, Judgement())
  if (problems !== undefined) return { problems }
  const asked = judged(state).map(({ key }) => key)
  const given = value.criteria.map(({ id }) => id)
  const wrong = [
    ...asked.filter(id => !given.includes(id)).map(id => `the verdict for ${id} is missing`),
    ...given.filter(id => !asked.includes(id)).map(id => `${JSON.stringify(id)} is not one of the criteria`),
    ...given.filter((id, index) => given.indexOf(id) !== index).map(id => `${id} has more than one verdict`),
  ]
  return wrong.length > 0 ? { problems: wrong } : { output: value }
}

export interface JudgedCheck {
  readonly check: PlannedCheck
  readonly verdict: Verdict
  readonly reason: string
}

/**
 * Returns the verdict of an accepted answer about each check; a check that it omits, or any check if it is null, is
 * inconclusive.
 */
export function judgedChecks(output: Json, checks: readonly PlannedCheck[]): readonly JudgedCheck[] {
  const given = Judgement().safeParse(output).data?.criteria ?? []
  return checks.map(check => {
    const found = given.find(({ id }) => id === keyOf(check, checks))
    const { verdict, reason } = found ?? { verdict: "inconclusive", reason: "the model gave no verdict" }
    return { check, verdict, reason }
  })
}

/** Returns the criteria for a model, with the names that it has to use. */
function judged(state: PipelineState): readonly { readonly key: string; readonly text: string }[] {
  const checks = state.stage?.checks.filter(({ kind }) => kind === "judgement") ?? []
  return checks.map(check => ({ key: keyOf(check, checks), text: textOf(state, check) }))
}

/** Returns a unique name: ids are unique only within their task. */
function keyOf({ id, taskId }: PlannedCheck, checks: readonly PlannedCheck[]): string {
  return checks.filter(check => check.id === id).length > 1 ? `${taskId}/${id}` : id
}

function textOf({ plans }: PipelineState, { id, taskId }: PlannedCheck): string {
  const task = plans.at(-1)?.plan.tasks.find(each => each.id === taskId)
  const criterion = task?.acceptance.find(each => each.id === id)
  return criterion?.kind === "judgement" ? `${criterion.text} (task: ${task?.title ?? ""})` : ""
}
