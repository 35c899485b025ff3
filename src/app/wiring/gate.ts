import { systemIds } from "../../base/clock.ts"
import { shownPath } from "../../base/path-names.ts"
import { counted } from "../../base/text.ts"
import { toExecutionSettings } from "../../config/settings.ts"
import { ToolCallSettled } from "../../domain/events/call-events.ts"
import { dataOf, type NewEvent } from "../../domain/events/definition.ts"
import type { UncoveredChanges } from "../../domain/tool-call.ts"
import { commandWords } from "../../exec/words.ts"
import type { ApprovalDesk, Gate, SessionLog } from "../../gate/contract.ts"
import { createGate } from "../../gate/gate.ts"
import { createSessionRecorder } from "../../gate/session-recorder.ts"
import { processIdentity } from "../../store/process-identity.ts"
import type { ToolLimits } from "../../tools/contract.ts"
import { textChanges } from "../../workspace/change/changes.ts"
import { checkDeps, codeTools } from "./code-tools.ts"
import { isSandboxed } from "./sandbox.ts"
import { skillReader } from "./skills.ts"
import type { Wiring } from "./wire.ts"

const KiB = 1024
const MiB = KiB * KiB

/** The limits of one result and one edit: enough for source files, too small to exhaust memory or a model's window. */
const limits: Omit<ToolLimits, "commandTimeoutMs"> = {
  viewBytesMax: 64 * KiB,
  editBytesMax: 64 * MiB,
  matchesMax: 1_000,
  entriesMax: 5_000,
  searchTimeoutMs: 30_000,
}

/** The gate of one session, whose commands are written into its stream. */
export async function wireGate(
  wiring: Wiring,
  session: SessionLog,
  approvals: ApprovalDesk,
  notice: (text: string) => void,
): Promise<Gate> {
  const log = reportingLost(session, notice)
  const store = await wiring.store()
  const { values } = await wiring.config()
  const { workspace, checkpoints } = await wiring.workspace()
  const policy = await wiring.policy()
  const redactor = await wiring.redactor([])
  const recorder = createSessionRecorder(log, store.executions, processIdentity())
  const settings = toExecutionSettings(values)
  const confinedBy = await wiring.sandboxKind()
  const { sandbox } = values.execution
  return createGate({
    log,
    room: {
      workspace,
      changes: textChanges,
      redactor,
      runner: await wiring.runnerWith(recorder, "agent"),
      splitCommand: commandWords,
      hasSandbox: isSandboxed(confinedBy),
      // By name: if the sandbox disappears later, commands fail instead of running unconfined.
      sandbox: confinedBy !== "none" && sandbox === "auto" ? confinedBy : sandbox,
      grantedHosts: [],
      hostRefusal: policy.hostRefusal,
      skills: await skillReader(wiring),
      ...codeTools(wiring),
      checks: checkDeps(wiring, values),
      limits: { ...limits, commandTimeoutMs: settings.defaultTimeoutMs },
    },
    checkpoints,
    decide: policy.decide,
    policyVersion: policy.policyVersion,
    approvals,
    artifacts: store.artifacts,
    redactor,
    fingerprint: store.fingerprint,
    recorder,
    clock: wiring.clock,
    ids: systemIds,
    faults: wiring.faults,
  })
}

/** Wraps a log to print a notice for changes that undo cannot restore; once for each path and reason. */
export function reportingLost(log: SessionLog, notice: (text: string) => void): SessionLog {
  const reported = new Set<string>()
  return {
    sessionId: log.sessionId,
    whileOwned: work => log.whileOwned(work),
    append: events => {
      const stored = log.append(events)
      const lines = events.flatMap(uncoveredIn).flatMap(linesOf)
      for (const line of lines.filter(each => !reported.has(each))) {
        reported.add(line)
        notice(line)
      }
      return stored
    },
  }
}

function uncoveredIn(event: NewEvent): readonly UncoveredChanges[] {
  const uncovered = dataOf(ToolCallSettled, event)?.uncovered
  return uncovered === undefined ? [] : [uncovered]
}

/** Returns a few lines; the events and `session show` list all paths. */
function linesOf({ paths, count, unwatched }: UncoveredChanges): readonly string[] {
  const shown = paths.slice(0, pathsShown)
  const more = count - shown.length
  return [
    ...shown.map(({ path, reason }) => `\`acode session undo\` cannot restore ${shownPath(path)}: ${reason}`),
    ...(more > 0 ? [`\`acode session undo\` cannot restore ${counted(more, "more file")}`] : []),
    ...unwatched.map(
      path => `whether ${shownPath(path)} was changed is not known: it holds too much to be watched`,
    ),
  ]
}

const pathsShown = 3
