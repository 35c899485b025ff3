import { dirname } from "node:path"
import { errnoOf } from "../../base/assert.ts"
import { type Clock, systemClock, systemIds } from "../../base/clock.ts"
import { type Faults, killAt, noFaults } from "../../base/faults.ts"
import { type ConfigRequest, type LoadedConfig, loadConfig } from "../../config/config.ts"
import type { AppEnvironment } from "../../config/environment.ts"
import { toAuditSettings, toExecutionSettings } from "../../config/settings.ts"
import { noArtifacts, withArtifacts } from "../../domain/command-result.ts"
import { Failure } from "../../domain/failure.ts"
import type { Mode } from "../../domain/model-choice.ts"
import type { ProcessIdentity } from "../../domain/process-identity.ts"
import type { CommandRunner, Recorder } from "../../exec/contract.ts"
import type { CommandOwner } from "../../exec/environment.ts"
import { createRunner } from "../../exec/runner.ts"
import { usualMode } from "../../models/mode.ts"
import type { UsualServer } from "../../provider/protocol.ts"
import type { Redactor } from "../../redaction/contract.ts"
import { createRedactor } from "../../redaction/redactor.ts"
import { environmentRules, secretValuesOf } from "../../redaction/secret-names.ts"
import type { ResolveHost } from "../../sandbox/proxy/contract.ts"
import type { Store } from "../../store/contract.ts"
import { canWrite } from "../../store/database/database.ts"
import { openStore, type StoreOptions } from "../../store/open-store.ts"
import { isProcessAlive, processIdentity, uptimeMs } from "../../store/process-identity.ts"
import { hasHistory } from "../../store/state-directory.ts"
import { WorkspaceRoot } from "../../workspace/files/root.ts"
import { readGitState } from "../../workspace/git.ts"
import { locateWorkspace } from "../../workspace/locate.ts"
import type { OpenWorkspace } from "../../workspace/workspace.ts"
import { endInterrupted, sweptNames } from "../interrupted-commands.ts"
import { ownOutputs } from "../own-outputs.ts"
import type { GivenYes } from "../policy-yes.ts"
import {
  assertNarrow,
  assertStateOutside,
  hasOldState,
  type StatePlaces,
  statePlaces,
} from "../state/state-directory.ts"
import { formerHistory, recordWorkspace } from "../state/workspace-record.ts"
import type { WiredPolicy } from "./policy.ts"
import { connectionRulesFor, hasSandbox, type SandboxWiring, wireSandbox } from "./sandbox.ts"

export interface WireRequest {
  readonly environment: AppEnvironment
  /** `-C`; without it the workspace is found from the current directory. */
  readonly workspace: string | undefined
  readonly configFile: string | undefined
  /** `--allow-broad-workspace`: a person means to work in a home directory, or in one of the system. */
  readonly allowsBroad?: boolean | undefined
  /** `--yes`: what a person answered in advance. */
  readonly yes?: GivenYes | undefined
  /** Where model servers are looked for; tests have theirs elsewhere. */
  readonly usualServers?: readonly UsualServer[] | undefined
  /** How names of hosts are looked up for commands; tests answer that for themselves. */
  readonly resolveHost?: ResolveHost | undefined
  /** What time it is, and for how long the machine has been running; tests decide that for themselves. */
  readonly clock?: Clock | undefined
  readonly uptimeMs?: (() => number) | undefined
  /** For what a person is told once, such as settings that are not in force. */
  readonly notice?: ((text: string) => void) | undefined
}

const noSpace = "ACODE-DB-004"

/** The parts of one workspace, each constructed when it is first asked for. The only place that constructs them. */
export class Wiring implements Disposable {
  readonly root: WorkspaceRoot
  readonly places: StatePlaces
  readonly clock: Clock
  readonly faults: Faults
  /** What a person answered in advance; a session that goes on brings along what was said when it was started. */
  yes: GivenYes | undefined
  /** Of the session that is driven; null before there is one, and for those without models. */
  mode: Mode | null = null
  /** Aborted when a person stops acode: reading and copying files is then given up. Set by whoever can be stopped. */
  stopping: AbortSignal | null = null
  /** Of this process, and of dead ones whose sessions are looked at. */
  readonly ownOutputs = ownOutputs()
  private readonly changed: Failure[] = []
  private loaded: Promise<LoadedConfig> | null = null
  private opened: Store | null = null
  private read: Store | null = null
  private plainRedactor: Redactor | null = null
  private shared: Promise<CommandRunner> | null = null
  private files: Promise<OpenWorkspace> | null = null
  private probed: Promise<boolean> | null = null
  private readonly disposables = new DisposableStack()

  constructor(readonly request: WireRequest) {
    const { environment, workspace } = request
    this.yes = request.yes
    this.clock = request.clock ?? systemClock
    this.root = new WorkspaceRoot(workspace ?? locateWorkspace(requiredDirectory(currentDirectory())))
    this.places = statePlaces(this.root.path, environment)
    this.faults = environment.failpoint === null ? noFaults : killAt(environment.failpoint)
  }

  /** The directory acode was called from, as a path from the root; the root itself when called from outside. */
  calledFrom(): string {
    const directory = currentDirectory()
    return (directory === null ? null : this.root.pathInside(directory)) ?? "."
  }

  config(): Promise<LoadedConfig> {
    this.loaded ??= loadConfig(this.configRequest())
    return this.loaded
  }

  configRequest(): ConfigRequest {
    const { environment, configFile } = this.request
    return {
      workspaceRoot: this.root.path,
      environment,
      flags: { configFile: configFile ?? null, values: {} },
    }
  }

  /** The history, made on first use. What a dead acode left open is closed before anybody looks. */
  async store(): Promise<Store> {
    if (this.opened !== null) return this.opened
    if (this.request.allowsBroad !== true) assertNarrow(this.root.path, this.request.environment.home)
    const options = await this.storeOptions()
    if (hasOldState(this.places)) await this.takeOverOldState(options)
    // Said where a history begins, and never again.
    const former = hasHistory(this.places.databasePath) ? null : formerHistory(this.places, this.root.path)
    recordWorkspace(this.places, this.root.path, this.clock)
    const store = openStore({ ...options, readOnly: false })
    this.opened = store
    if (former !== null) this.request.notice?.(former)
    const notice = (text: string) => this.request.notice?.(text)
    await endInterrupted(store, () => this.sandboxWiring(), this.places, this.root.path, notice)
    await this.endInterruptedSessions(store)
    return store
  }

  /** Loaded only when there is one: most commands find none. */
  private async endInterruptedSessions(store: Store): Promise<void> {
    // A plan run is never taken up again; the others wait for somebody to resume them.
    const interrupted = store.sessions.interrupted(owner => isProcessAlive(owner), "plan")
    if (interrupted.length === 0) return
    const { recoverSessions } = await import("../session-recovery.ts")
    await recoverSessions(await this.workspace(), store, interrupted, this.ownOutputs)
  }

  /** The history, when somebody has opened it; null otherwise. */
  openedStore(): Store | null {
    return this.opened ?? this.read
  }

  /**
   * The history, or null when nothing was ever recorded here. Where nothing can be written, or on a full disk, it is
   * only read, and what a dead acode left open stays open.
   */
  async existingStore(): Promise<Store | null> {
    const { databasePath } = this.places
    if (this.opened !== null) return this.opened
    if (hasOldState(this.places)) await this.takeOverOldState(await this.storeOptions())
    if (!hasHistory(databasePath)) return null
    if (canWrite(dirname(databasePath)) && canWrite(databasePath))
      try {
        return await this.store()
      } catch (error) {
        if (!(error instanceof Failure && error.report.code === noSpace)) throw error
      }
    this.read ??= openStore({ ...(await this.storeOptions()), readOnly: true })
    return this.read
  }

  /** Loaded only when there is some: it lies in `.agent`, where acode keeps nothing any more. */
  private async takeOverOldState(options: StoreOptions): Promise<void> {
    const { moveOldState } = await import("../state/state-migration.ts")
    await moveOldState(this.places, options)
  }

  async storeOptions(): Promise<StoreOptions> {
    assertStateOutside(this.places, this.root.path)
    const { values } = await this.config()
    const audit = toAuditSettings(values)
    return {
      ...this.places,
      stateDirectory: this.places.stateDirectory,
      redactor: await this.redactor([]),
      clock: this.clock,
      faults: this.faults,
      self: processIdentity(),
      uptimeMs: this.request.uptimeMs ?? uptimeMs,
      inlineBytesMax: audit.inlineOutputBytesMax,
      includeOutput: audit.includeOutput,
      quarantinedOf: id => sweptNames(this.places, id) ?? [],
    }
  }

  private async sandboxWiring(): Promise<SandboxWiring> {
    const { environment, resolveHost } = this.request
    const { values } = await this.config()
    const { root, places, clock } = this
    return { environment, config: values, root: root.path, places, clock, resolveHost }
  }

  async redactor(more: readonly string[]) {
    return this.redactorFor(more, await this.config())
  }

  /** One for everybody: its queue is what bounds how much runs at the same time. */
  runner(): Promise<CommandRunner> {
    this.shared ??= this.store().then(store =>
      this.runnerWith(logRecorder(store, processIdentity()), "person"),
    )
    return this.shared
  }

  /** For a look at the machine that must not become history. */
  unrecordedRunner(): Promise<CommandRunner> {
    const recorder: Recorder = {
      started: () => undefined,
      finished: record => withArtifacts(record, noArtifacts(record.result)),
    }
    return this.runnerWith(recorder, "agent")
  }

  async runnerWith(recorder: Recorder, owner: CommandOwner): Promise<CommandRunner> {
    const config = await this.config()
    const { environment } = this.request
    return createRunner({
      settings: toExecutionSettings(config.values),
      workspace: this.root,
      sandboxFor: wireSandbox(await this.sandboxWiring()),
      recorder,
      connectionRules: connectionRulesFor,
      redactor: this.redactorFor([], config),
      redactorKnowing: values => this.redactorFor(values, config),
      hostEnvironment: environment.host,
      owner,
      environmentRules,
      clock: this.clock,
      ids: systemIds,
      faults: this.faults,
      correlation: { runId: systemIds.next("run"), ...readGitState(this.root.path) },
    })
  }

  /** Whether commands are confined when nobody chooses. Looked at once. */
  hasSandbox(): Promise<boolean> {
    this.probed ??= this.config().then(({ values }) => hasSandbox(values, this.root.path))
    return this.probed
  }

  /** The user's files, and what is kept of them to be put back. */
  workspace(): Promise<OpenWorkspace> {
    this.files ??= this.openFiles()
    return this.files
  }

  private async openFiles(): Promise<OpenWorkspace> {
    const [{ wireWorkspace }, { makeRoom }] = await Promise.all([
      import("./workspace.ts"),
      import("../state/kept-copies.ts"),
    ])
    const opened: OpenWorkspace = wireWorkspace({
      makeRoom: bytes => {
        if (this.opened !== null) makeRoom(opened.checkpoints, this.opened, bytes)
      },
      directory: this.root.path,
      places: this.places,
      config: (await this.config()).values,
      environment: this.request.environment,
      clock: this.clock,
      faults: this.faults,
      ownOutputs: this.ownOutputs,
      stopping: () => this.stopping,
      unrecordedRunner: () => this.unrecordedRunner(),
    })
    this.disposables.use(opened.workspace)
    return opened
  }

  async policy(): Promise<WiredPolicy> {
    const { wirePolicy } = await import("./policy.ts")
    const { environment } = this.request
    const config = (await this.config()).values
    const isAirgapped = (this.mode ?? usualMode(config.mode)) === "airgapped"
    return wirePolicy({ config, environment, root: this.root.path, yes: this.yes, isAirgapped })
  }

  /** What was shown or passed over although it does not match the signed events. */
  changedRecords(): readonly Failure[] {
    return [...this.changed, ...(this.openedStore()?.changed() ?? [])]
  }

  /** So that nothing is on the disk but what stays; whoever asks for the history opens it again. */
  closeStore(): void {
    this.changed.push(...(this.opened?.changed() ?? []), ...(this.read?.changed() ?? []))
    this.opened?.[Symbol.dispose]()
    this.read?.[Symbol.dispose]()
    this.opened = null
    this.read = null
  }

  [Symbol.dispose](): void {
    this.disposables.dispose()
    this.closeStore()
    this.root[Symbol.dispose]()
  }

  private redactorFor(more: readonly string[], config: LoadedConfig): Redactor {
    if (more.length === 0 && this.plainRedactor !== null) return this.plainRedactor
    const redactor = createRedactor({
      secretValues: [...secretValuesOf(this.request.environment.host), ...more],
      extraPatterns: config.values.execution.redaction.patterns,
    })
    if (more.length === 0) this.plainRedactor = redactor
    return redactor
  }
}

/** Null when it was removed under the feet of whoever called. */
function currentDirectory(): string | null {
  try {
    return process.cwd()
  } catch (error) {
    if (errnoOf(error) === null) throw error
    return null
  }
}

function requiredDirectory(directory: string | null): string {
  if (directory !== null) return directory
  throw new Failure({
    kind: "usage",
    code: "ACODE-CLI-006",
    message: "the current directory does not exist any more, or its path is longer than the system allows",
    hint: "change into a directory that exists, or name the workspace with -C DIR",
  })
}

/** Writes an execution outside a session to the log: two commits, then the anchor. */
function logRecorder(store: Store, owner: ProcessIdentity): Recorder {
  return {
    started: ({ id, ...intent }) => store.executions.started({ ...intent, executionId: id, owner }),
    finished: (record, outputs) => {
      const recorded = store.executions.settled(record, outputs)
      store.anchor()
      return recorded
    },
  }
}
