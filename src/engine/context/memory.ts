import { oneLine } from "../../base/text.ts"
import { Failure } from "../../domain/failure.ts"
import type { StepState } from "../../domain/pipeline/state.ts"
import type { Redactor } from "../../redaction/contract.ts"
import type { Workspace } from "../../workspace/contract.ts"
import type { AgentParts } from "../agent-parts.ts"
import type { LiveSession } from "../live-session.ts"
import type { BoundedText, ReadText } from "../stages/contract.ts"
import { sessionDiff } from "./changes.ts"
import { bytesTokens } from "./token-estimate.ts"

/** Holds what a step knows besides its task. It is the same in every request of the step, so that servers reuse it. */
export interface StepMemory {
  /** The files that the planner and earlier steps read or changed, as they were when the step began. */
  readonly files: readonly ReadText[]
  /** The changes so far, for a step that fixes them. */
  readonly diff: BoundedText
}

const noDiff: BoundedText = { text: "", leftOutTokens: 0 }
export const noMemory: StepMemory = { files: [], diff: noDiff }

/** Holds the memory of the present step of each running session; a new process collects it again. */
const memories = new WeakMap<LiveSession, { readonly key: string; readonly memory: StepMemory }>()

export function stepMemory(parts: AgentParts, { step, index, attempts }: StepState): StepMemory {
  const { session, workspace, redactor } = parts
  const key = `${session.state.plans.length} ${index} ${attempts}`
  const known = memories.get(session)
  if (known?.key === key) return known.memory
  const { settings, knownFiles } = session.state
  const memory: StepMemory = {
    files: knownTexts(
      { workspace, redactor },
      knownFiles,
      bytesIn(settings.selection?.executor.windowTokens ?? null),
    ),
    diff: step.kind === "open" && step.action === "FIX" ? sessionDiff(parts, session.events) : noDiff,
  }
  memories.set(session, { key, memory })
  return memory
}

const memoryBytesMax = 48 * 1024
const fileBytesMax = 16 * 1024
const filesMax = 12

/** Returns the size of all remembered files together: at most a quarter of the window. */
function bytesIn(windowTokens: number | null): number {
  return windowTokens === null ? memoryBytesMax : Math.min(memoryBytesMax, windowTokens)
}

/** Returns the present content of files, the last touched ones if not all fit, ordered by when they were touched. */
function knownTexts(
  { workspace, redactor }: { readonly workspace: Workspace; readonly redactor: Redactor },
  paths: readonly string[],
  bytesMax: number,
): readonly ReadText[] {
  const texts: ReadText[] = []
  let left = bytesMax
  for (const path of paths.toReversed()) {
    if (left <= 0 || texts.length === filesMax) break
    const read = boundedFile(workspace, path, Math.min(left, fileBytesMax))
    if (read === null) continue
    left -= Buffer.byteLength(read.text)
    texts.push({ path, text: redactor.redactText(read.text) })
  }
  return texts.toReversed()
}

/** Returns the beginning of a text file; null where it cannot be read. */
export function boundedFile(workspace: Workspace, path: string, bytesMax: number): BoundedText | null {
  try {
    const { text, truncated, totalLines, sizeBytes } = workspace.readLines(path, { bytesMax })
    if (!truncated) return { text, leftOutTokens: 0 }
    const leftOutTokens = bytesTokens(sizeBytes - Buffer.byteLength(text))
    return { text: `${text}\n[cut off; the file has ${totalLines} lines]`, leftOutTokens }
  } catch (error) {
    if (!(error instanceof Failure)) throw error
    // Binary, protected or deleted meanwhile: a model can still ask for it, and sees the reason.
    return null
  }
}

const stepsMax = 20
const readingTextMax = 2_000
const otherTextMax = 400

/** Returns what the steps before this one found and why others failed, in the words of the models. */
export function findingsText(steps: readonly StepState[], present: StepState | null): string {
  const told = steps.filter(step => step.index !== present?.index).flatMap(findingOf)
  return told.slice(-stepsMax).join("\n")
}

/** A step that only reads is worth its tokens only by what it found. */
function findingOf({ task, step, status, summary, lastCall }: StepState): readonly string[] {
  const name = `${task.id}/${step.id}`
  const isReading = step.kind === "open" && readingActions.has(step.action)
  if (status === "done" && summary !== null)
    return [`${name}: ${oneLine(summary, isReading ? readingTextMax : otherTextMax)}`]
  const failure = lastCall?.failure ?? null
  return status === "failed" && failure !== null
    ? [`${name} failed: ${oneLine(failure.message, otherTextMax)}`]
    : []
}

const readingActions: ReadonlySet<string> = new Set(["READ_FILE", "ANALYZE_CODE"])
