import { oneLine } from "../../base/text.ts"
import { ToolCallRequested, ToolCallSettled } from "../../domain/events/call-events.ts"
import { dataOf } from "../../domain/events/definition.ts"
import { Failure } from "../../domain/failure.ts"
import type { LeftOut } from "../../domain/pipeline/left-out.ts"
import type { StepState } from "../../domain/pipeline/state.ts"
import type { Stage } from "../../domain/stage.ts"
import type { Redactor } from "../../redaction/contract.ts"
import type { StoredEvent } from "../../store/contract.ts"
import type { Workspace } from "../../workspace/contract.ts"
import type { AgentParts } from "../agent-parts.ts"
import type { AcodeFinding, BoundedText, StageView } from "../stages/contract.ts"
import { sessionDiff } from "./changes.ts"
import { readInstructions } from "./instructions.ts"
import { boundedFile, noMemory, stepMemory } from "./memory.ts"
import { codeOutlineOf, outlineOf } from "./outline.ts"
import { textTokens } from "./token-estimate.ts"

/** Collects what a stage needs to know of the workspace, and no more: each part costs a walk or a diff. */
export async function stageView(parts: AgentParts, stage: Stage, step: StepState | null): Promise<StageView> {
  const { session, workspace, redactor } = parts
  const isPlanning = stage === "planner"
  const isJudging = stage === "verifier" || stage === "reviewer"
  const hasCodeIndex = parts.hasCodeIndex()
  const outline = isPlanning ? await repositoryOutline(parts, hasCodeIndex) : nothing
  const memory = stage === "executor" && step !== null ? stepMemory(parts, step) : noMemory
  const diff = isJudging ? sessionDiff(parts, session.events) : memory.diff
  const instructions = readInstructions(workspace, redactor)
  const isWorking = isPlanning || stage === "executor"
  const files = isWorking ? contextFiles(parts) : []
  const skills = isWorking ? redactor.redactText(skillList(parts.skills())) : ""
  return {
    state: session.state,
    step,
    instructions,
    files: [...files, ...memory.files.filter(({ path }) => files.every(file => file.path !== path))],
    skills,
    hasCodeIndex,
    outline: outline.text,
    diff: diff.text,
    olderResults: "someOld",
    findings: stage === "reviewer" ? findingsOf(session.events) : [],
    leftOut: [
      ...files.map(file => leftOutOf("longFiles", redactor.redactText(file.path), file)),
      ...[leftOutOf("longOutline", null, outline), leftOutOf("longDiff", null, diff)],
      ...instructions.map(file => leftOutOf("longInstructions", file.path, file)),
    ].filter(({ tokens }) => tokens > 0),
  }
}

/** Symbols hold text of the files, such as the values of constants, which may be secret. */
async function repositoryOutline(
  { workspace, redactor, codeOutline }: AgentParts,
  hasCodeIndex: boolean,
): Promise<BoundedText> {
  const { entries } = await workspace.tree()
  if (!hasCodeIndex) return outlineOf(entries)
  return codeOutlineOf(entries, async tokensMax => {
    const text = await codeOutline(tokensMax)
    return text === null ? null : redactor.redactText(text)
  })
}

const skillTokensMax = 600

/** Returns one line for each skill, as many as fit; the other skills can be used nevertheless. */
function skillList(skills: ReturnType<AgentParts["skills"]>): string {
  const lines: string[] = []
  let tokens = 0
  for (const { name, description } of skills) {
    const line = `- ${name}: ${oneLine(description, 300)}`
    tokens += textTokens(line) + 1
    if (tokens > skillTokensMax) return [...lines, `… and ${skills.length - lines.length} more`].join("\n")
    lines.push(line)
  }
  return lines.join("\n")
}

const nothing: BoundedText = { text: "", leftOutTokens: 0 }

function leftOutOf(part: LeftOut["part"], name: string | null, read: Partial<BoundedText>): LeftOut {
  return { part, name, tokens: read.leftOutTokens ?? 0 }
}

function contextFiles({ session, workspace, redactor }: AgentParts): StageView["files"] {
  const { contextFiles: globs } = session.state.settings
  return globs.length === 0 ? [] : readContextFiles(workspace, redactor, globs)
}

/** Returns what acode itself found and a reviewer must know: refusals, and calls with an unknown effect. */
function findingsOf(events: Iterable<StoredEvent>): readonly AcodeFinding[] {
  const tools = new Map<string, string>()
  const findings: AcodeFinding[] = []
  for (const event of events) {
    const requested = dataOf(ToolCallRequested, event)
    if (requested !== null) tools.set(requested.callId, requested.tool)
    const settled = dataOf(ToolCallSettled, event)
    if (settled === null) continue
    const tool = tools.get(settled.callId) ?? "a call"
    if (settled.outcome === "refused" || settled.outcome === "denied")
      findings.push({
        severity: "minor",
        text: `${tool} was ${settled.outcome}: ${settled.error?.message ?? ""}`,
      })
    if (settled.certainty === "unknown")
      findings.push({ severity: "major", text: `${tool}: whether it took effect is not known` })
  }
  return findings
}

const filesMax = 20
const fileBytesMax = 16 * 1024
const totalBytesMax = 64 * 1024
/** The maximum number of names of files beyond the limits. */
const namesMax = 100

/**
 * Reads the files that a person wants a model to see from the beginning, by their globs. Limited, redacted, in a
 * fixed order. Files beyond the limits are named, so that a model can read them.
 */
export function readContextFiles(
  workspace: Workspace,
  redactor: Redactor,
  globs: readonly string[],
): StageView["files"] {
  const paths = [...new Set(globs.flatMap(pattern => matching(workspace, pattern)))].sort()
  const files: StageView["files"][number][] = []
  let left = totalBytesMax
  let count = 0
  for (const path of paths) {
    if (left <= 0 || files.length === filesMax) break
    count += 1
    const read = boundedFile(workspace, path, Math.min(left, fileBytesMax))
    if (read === null) continue
    const { text, leftOutTokens } = read
    const more = leftOutTokens === 0 ? {} : { leftOutTokens }
    files.push({ path, text: redactor.redactText(text), ...more })
    left -= Buffer.byteLength(text)
  }
  return [...files, ...further(paths.slice(count), redactor)]
}

function further(paths: readonly string[], redactor: Redactor): StageView["files"] {
  if (paths.length === 0) return []
  const more = paths.length > namesMax ? ["…"] : []
  const text = redactor.redactText([...paths.slice(0, namesMax), ...more].join("\n"))
  return [{ path: "too many to show all of them; read_file shows these", text }]
}

function matching(workspace: Workspace, pattern: string): readonly string[] {
  try {
    return workspace.glob({ pattern, path: ".", matchesMax: filesMax + namesMax + 1 }).paths
  } catch (error) {
    if (!(error instanceof Failure)) throw error
    // Not a glob, or one that leads outside: it names no file that could be shown.
    return []
  }
}
