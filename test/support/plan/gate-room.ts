import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import type { z } from "zod"
import { approvalDesk, type PromptedAnswer } from "../../../src/app/approval-desk.ts"
import type { Json } from "../../../src/base/canonical.ts"
import { type Clock, systemClock } from "../../../src/base/clock.ts"
import { type Faults, noFaults } from "../../../src/base/faults.ts"
import type { SandboxChoice } from "../../../src/domain/command.ts"
import { emptyGrant } from "../../../src/domain/effect.ts"
import { dataOf, type EventDefinition, type NewEvent } from "../../../src/domain/events/definition.ts"
import { Failure } from "../../../src/domain/failure.ts"
import type { Recorder } from "../../../src/exec/contract.ts"
import { commandWords } from "../../../src/exec/words.ts"
import type { ApprovalDesk, CallRequest, Gate, GateParts, SettledCall } from "../../../src/gate/contract.ts"
import { createGate } from "../../../src/gate/gate.ts"
import { type DrivenSession, driveSession } from "../../../src/gate/session-log.ts"
import { createSessionRecorder } from "../../../src/gate/session-recorder.ts"
import { decide } from "../../../src/policy/decide.ts"
import { classify, decidePath } from "../../../src/policy/protected-paths.ts"
import { ruleSet } from "../../../src/policy/rules/rules.ts"
import { loadShellParser } from "../../../src/policy/shell/parser.ts"
import { noScopes } from "../../../src/policy/yes-scopes.ts"
import { createRedactor } from "../../../src/redaction/redactor.ts"
import type { Store, StoredEvent } from "../../../src/store/contract.ts"
import { processIdentity } from "../../../src/store/process-identity.ts"
import type { ToolLimits } from "../../../src/tools/contract.ts"
import { textChanges } from "../../../src/workspace/change/changes.ts"
import type { CheckpointLimits, Checkpoints } from "../../../src/workspace/checkpoint/contract.ts"
import type { Workspace } from "../../../src/workspace/contract.ts"
import { openWorkspace } from "../../../src/workspace/workspace.ts"
import { testRunner } from "../../exec/support/test-runner.ts"
import { event } from "../../store/support/session-events.ts"
import { countingIds } from "../fixed-clock.ts"
import { codeParts } from "../workspace/code-parts.ts"
import { openTempStore } from "../workspace/temp-store.ts"
import type { TempWorkspace } from "../workspace/temp-workspace.ts"
import { shippedDefaults } from "./shipped-decisions.ts"

export interface GateRoomOptions {
  readonly files?: Readonly<Record<string, string>>
  /** Answers questions; by default no person is there. */
  readonly desk?: (room: GateRoom) => ApprovalDesk
  readonly faults?: (room: GateRoom) => Faults
  readonly clock?: Clock
  readonly secretValues?: readonly string[]
  readonly sandbox?: SandboxChoice
  readonly limits?: Partial<ToolLimits>
  readonly checkpointLimits?: Partial<CheckpointLimits>
  readonly isRedactingStore?: boolean
}

/** A gate of real parts on a workspace of its own. Only the clock, the ids, the faults and the desk are the test's. */
export interface GateRoom extends Disposable {
  readonly temp: TempWorkspace
  readonly root: string
  readonly store: Store
  readonly workspace: Workspace
  readonly checkpoints: Checkpoints
  readonly log: DrivenSession
  readonly gate: Gate
  readonly parts: GateParts
  /** The types of the events of each commit, in order. */
  readonly commits: string[][]
  call(tool: string, args: Json, more?: Partial<CallRequest>): Promise<SettledCall>
  events(): readonly StoredEvent[]
  data<Definition extends EventDefinition>(definition: Definition): z.infer<Definition["data"]>[]
  put(path: string, content: string): void
  /** Null where there is nothing. */
  read(path: string): string | null
}

const limits: ToolLimits = {
  viewBytesMax: 4_000,
  editBytesMax: 1_000_000,
  matchesMax: 50,
  entriesMax: 50,
  searchTimeoutMs: 5_000,
  commandTimeoutMs: 10_000,
}

const parser = await loadShellParser()

export function gateRoom(options: GateRoomOptions = {}): GateRoom {
  const { clock = systemClock, secretValues = [], sandbox = "none" } = options
  const redactor = createRedactor({ secretValues, extraPatterns: [] })
  const written: { recorder: Recorder | null } = { recorder: null }
  const runner = testRunner({ sandbox }, { redactor, clock, recorder: later(written) })
  const temp = runner.workspace
  for (const [path, content] of Object.entries(options.files ?? {})) temp.write(path, content)
  const store = openTempStore(temp, { clock, ...(options.isRedactingStore === false ? {} : { redactor }) })
  const commits: string[][] = []
  const log = countingCommits(newSession(store), commits)
  const { workspace, checkpoints } = openFiles(temp.root, clock, options)
  const recorder = createSessionRecorder(log, store.executions, processIdentity())
  written.recorder = recorder
  const parts: GateParts = {
    log,
    room: {
      workspace,
      changes: textChanges,
      redactor,
      runner: runner.runner,
      splitCommand: commandWords,
      hasSandbox: sandbox !== "none",
      grantedHosts: [],
      hostRefusal: () => null,
      skills: { workspaceFileOf: () => null, read: () => ({ text: "", references: [] }) },
      sandbox,
      ...codeParts,
      limits: { ...limits, ...options.limits },
    },
    checkpoints,
    decide: shippedPolicy(temp),
    policyVersion: "sha256:test",
    approvals: {
      isStaffed: false,
      whenNobody: "deny" as const,
      answeredBefore: () => null,
      ask: () => Promise.reject(new Error("no question was expected")),
    },
    artifacts: store.artifacts,
    redactor,
    fingerprint: store.fingerprint,
    recorder,
    clock,
    ids: countingIds(),
    faults: noFaults,
  }
  return assembled({ temp, store, workspace, checkpoints, log, commits, runner }, parts, options)
}

/** The runner is there before the session whose commands it runs. */
function later(written: { readonly recorder: Recorder | null }): Recorder {
  return {
    started: intent => written.recorder?.started(intent),
    finished: (record, outputs) => written.recorder?.finished(record, outputs) ?? record,
  }
}

function newSession(store: Store): DrivenSession {
  const owner = processIdentity()
  const session = driveSession(
    { log: store.log, leases: store.leases, owner },
    "ses_00000000-0000-7000-8000-000000000001",
  )
  session.append([event.sessionStarted()])
  return session
}

function shippedPolicy({ root, outside }: TempWorkspace): GateParts["decide"] {
  const home = join(outside, "home")
  const policy = { root, home, defaults: shippedDefaults, yes: noScopes, isAirgapped: false, parser }
  return async (effects, grant) => decide(effects, grant, ruleSet([]), policy)
}

type Made = Pick<GateRoom, "temp" | "store" | "workspace" | "checkpoints" | "log" | "commits"> & {
  readonly runner: Disposable
}

function assembled(made: Made, parts: GateParts, options: GateRoomOptions): GateRoom {
  const { temp, store, log, workspace, runner } = made
  const events = () => store.log.read(log.sessionId)
  const room: GateRoom = {
    ...made,
    root: temp.root,
    get parts() {
      return whole
    },
    get gate() {
      return gate
    },
    call: (tool, args, more = {}) => gate.call({ ...plainRequest, tool, arguments: args, ...more }),
    events,
    data: definition => events().flatMap(each => dataOf(definition, each) ?? []),
    put: (path, content) => void temp.write(path, content),
    read: path => (existsSync(join(temp.root, path)) ? readFileSync(join(temp.root, path), "utf8") : null),
    [Symbol.dispose]: () => {
      log.release()
      workspace[Symbol.dispose]()
      store[Symbol.dispose]()
      runner[Symbol.dispose]()
    },
  }
  const whole: GateParts = {
    ...parts,
    approvals: options.desk?.(room) ?? parts.approvals,
    faults: options.faults?.(room) ?? noFaults,
  }
  const gate = createGate(whole)
  return room
}

const plainRequest: Omit<CallRequest, "tool" | "arguments"> = {
  origin: { planId: null, planHash: null, taskId: null, stepId: null, stepKey: null, modelCallId: null },
  // As of a plan that was approved where nothing confines its commands.
  grant: { ...emptyGrant, isUnconfined: true },
  isGrantedAsWritten: false,
  offered: null,
  obstacle: null,
  isForModel: false,
  requiresConfirmation: false,
  askedAs: null,
  signal: null,
  onOutput: null,
  before: [],
  after: () => [],
}

function countingCommits(session: DrivenSession, commits: string[][]): DrivenSession {
  return {
    ...session,
    append: (events: readonly NewEvent[]) => {
      const stored = session.append(events)
      if (events.length > 0) commits.push(events.map(({ type }) => type))
      return stored
    },
  }
}

function openFiles(root: string, clock: Clock, { checkpointLimits }: GateRoomOptions) {
  return openWorkspace({
    directory: root,
    checkpointDirectory: join(root, ".agent/checkpoints"),
    checkpointLimits: { fileBytesMax: 1e6, totalBytesMax: 1e7, ...checkpointLimits },
    guard: (path, operation) => {
      if (decidePath(path, operation).decision !== "deny") return
      throw new Failure({ kind: "confinement", code: "ACODE-SEC-003", message: `${path} is protected` })
    },
    isHidden: path => classify(path) === "hidden",
    isProtected: path => classify(path) !== "open",
    ownOutputs: new Set(),
    ripgrep: null,
    clock,
    faults: noFaults,
  })
}

/** The desk of the product with a person at it who gives this answer; `meanwhile` happens before they do. */
export function answering(
  answer: PromptedAnswer["answer"],
  meanwhile: (room: GateRoom) => void = () => undefined,
): (room: GateRoom) => ApprovalDesk {
  return room => ({
    isStaffed: true,
    whenNobody: "deny" as const,
    answeredBefore: () => null,
    ask: (request, signal) =>
      approvalDesk({
        sessionId: request.sessionId,
        approvals: room.store.approvals,
        isInteractive: true,
        whenNobody: "deny",
        timeoutMs: null,
        prompt: async () => {
          meanwhile(room)
          return { answer, reason: answer === "refused" ? "not today" : null }
        },
        notice: () => undefined,
        by: "ada",
        clock: room.parts.clock,
      }).ask(request, signal),
  })
}
