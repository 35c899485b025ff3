import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { readYes } from "../../../src/app/policy-yes.ts"
import { wireAgent } from "../../../src/app/wiring/agent.ts"
import type { AgentSurface } from "../../../src/app/wiring/agent-surface.ts"
import { Wiring } from "../../../src/app/wiring/wire.ts"
import { systemIds } from "../../../src/base/clock.ts"
import { type Faults, noFaults } from "../../../src/base/faults.ts"
import { readEnvironment } from "../../../src/config/environment.ts"
import { type NewEvent, newEvent } from "../../../src/domain/events/definition.ts"
import { RequestAdded, SessionResumed } from "../../../src/domain/events/pipeline-events.ts"
import { SessionStarted } from "../../../src/domain/events/session-events.ts"
import type { Rest } from "../../../src/domain/pipeline/state.ts"
import {
  type PipelineLimits,
  type PipelineSettings,
  plainSettings,
} from "../../../src/domain/pipeline-settings.ts"
import type { AgentParts } from "../../../src/engine/agent-parts.ts"
import { driveAgent, type Stopping } from "../../../src/engine/lanes/agent-runner.ts"
import { driveSession } from "../../../src/gate/session-log.ts"
import type { ModelRequest } from "../../../src/provider/contract.ts"
import type { Store, StoredEvent } from "../../../src/store/contract.ts"
import { processIdentity } from "../../../src/store/process-identity.ts"
import { defaultLimits } from "../pipeline/default-limits.ts"
import { planAndCommands } from "../requirement.ts"
import type { TempWorkspace } from "../workspace/temp-workspace.ts"
import { type AgentWorkspace, agentWorkspace, type ReplyText } from "./agent-workspace.ts"

export interface AgentRoomOptions {
  readonly files?: Readonly<Record<string, string>>
  readonly git?: boolean
  readonly settings?: Partial<PipelineSettings>
  readonly limits?: Partial<PipelineLimits>
  readonly surface?: Partial<AgentSurface>
  /** The value of `--yes`; by default the scopes that unrelated tests need. */
  readonly yes?: string
  /** The person's own configuration. */
  readonly config?: Readonly<Record<string, unknown>>
  /** Variables of the process, such as one that holds a secret. */
  readonly environment?: Readonly<Record<string, string>>
  /** The faults that are injected below the session: in the gate, the store, the files. */
  readonly faults?: Faults
}

type ResumedHow = Pick<NewEvent<typeof SessionResumed>["data"], "redoesCommand">

/** A session of real parts in this very process; a test may put its own in the place of some. */
export interface AgentRoom extends AgentWorkspace {
  readonly store: Store
  readonly sessionId: string
  /** The requests to the model, in order. */
  readonly requests: ModelRequest[]
  /** The waiting times before each retry. */
  readonly waits: number[]
  /** Starts the session, or resumes it when there is one, and drives it to its rest. */
  drive(
    more?: Partial<AgentParts>,
    stopping?: Partial<Stopping>,
    how?: ResumedHow,
    adds?: string,
  ): Promise<Rest>
  events(): readonly StoredEvent[]
  data(type: string): readonly Readonly<Record<string, unknown>>[]
}

export async function agentRoom(
  replies: readonly ReplyText[],
  options: AgentRoomOptions = {},
): Promise<AgentRoom> {
  const room = furnished(replies, options)
  const wiring = wiringOf(room, options)
  const store = await wiring.store()
  const sessionId = systemIds.next("ses")
  const requests: ModelRequest[] = []
  const waits: number[] = []
  const events = () => store.log.read(sessionId)
  const drive = async (
    more: Partial<AgentParts> = {},
    stopping: Partial<Stopping> = {},
    how: ResumedHow = {},
    adds?: string,
  ) => {
    const session = driveSession(
      { log: store.log, leases: store.leases, owner: processIdentity() },
      sessionId,
    )
    try {
      const isResumed = events().length > 0
      const driven = { driven: session, settings: settingsOf(options), isResumed }
      await using agent = await wireAgent(wiring, driven, surfaceOf(room.scriptFile, options))
      const added = adds === undefined ? [] : [newEvent(RequestAdded, { text: adds, by: "ada" })]
      agent.begin([isResumed ? resumed(options, how) : started(options), ...added])
      const { ask } = agent.parts
      const parts: AgentParts = {
        ...agent.parts,
        ask: (request, signal) => {
          requests.push(request)
          return ask(request, signal)
        },
        wait: async ms => void waits.push(ms),
        jitter: () => 1,
        ...more,
      }
      // Awaited here: a bare return would close the model before it is asked.
      return await driveAgent(parts, { drain: never(), stop: never(), ...stopping })
    } finally {
      session.release()
    }
  }
  return {
    ...room,
    store,
    sessionId,
    requests,
    waits,
    drive,
    events,
    data: type => events().flatMap(event => (event.type === type ? [fieldsOf(event)] : [])),
    [Symbol.dispose]: () => {
      wiring[Symbol.dispose]()
      room[Symbol.dispose]()
    },
  }
}

function furnished(
  replies: readonly ReplyText[],
  { files = {}, git = false, config }: AgentRoomOptions,
): AgentWorkspace {
  const room = agentWorkspace({ files, git })
  room.script(...replies)
  if (config !== undefined) configure(room.workspace, config)
  return room
}

function configure({ configHome }: TempWorkspace, config: Readonly<Record<string, unknown>>): void {
  const directory = join(configHome, "acode")
  mkdirSync(directory, { recursive: true, mode: 0o700 })
  writeFileSync(join(directory, "config.yml"), JSON.stringify({ schema_version: "1", ...config }))
}

function wiringOf({ environment, workspace }: AgentWorkspace, options: AgentRoomOptions): Wiring {
  const request = {
    environment: readEnvironment({ ...environment, ...options.environment }),
    workspace: workspace.root,
    configFile: undefined,
    yes: readYes(options.yes ?? planAndCommands, false),
  }
  return new FaultyWiring(request, options.faults ?? noFaults)
}

class FaultyWiring extends Wiring {
  constructor(
    request: ConstructorParameters<typeof Wiring>[0],
    override readonly faults: Faults,
  ) {
    super(request)
  }
}

function never(): AbortSignal {
  return new AbortController().signal
}

export function settingsOf({ settings = {}, limits = {} }: AgentRoomOptions): PipelineSettings {
  return {
    ...plainSettings,
    limits: { ...defaultLimits, ...limits },
    ...settings,
  }
}

export function surfaceOf(script: string, { surface = {} }: AgentRoomOptions): AgentSurface {
  return {
    model: { script },
    isInteractive: false,
    acceptsPlans: true,
    prompt: () => Promise.reject(new Error("no question was expected")),
    notice: () => undefined,
    onEvent: () => undefined,
    onText: () => undefined,
    stopping: { drain: never(), stop: never() },
    waits: false,
    ...surface,
  }
}

function fieldsOf({ data }: StoredEvent): Readonly<Record<string, unknown>> {
  return data as Readonly<Record<string, unknown>> // as: the data of every event is an object
}

function started(options: AgentRoomOptions) {
  return newEvent(SessionStarted, {
    lane: "agent",
    goal: "do what is asked",
    planId: null,
    planHash: null,
    approvalId: null,
    plan: null,
    stepCount: 0,
    policyVersion: "sha256:test",
    treeDigest: null,
    worktreeId: null,
    repoSha: null,
    outputs: [],
    agent: settingsOf(options),
    owner: processIdentity(),
  })
}

function resumed(options: AgentRoomOptions, how: ResumedHow) {
  const settings = settingsOf(options)
  const owner = processIdentity()
  return newEvent(SessionResumed, { settings, skipsFailed: false, ...how, by: "ada", owner })
}
