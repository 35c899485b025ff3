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
import type { Sandbox, SandboxProbe } from "../../sandbox/contract.ts"
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
import { connectionRulesFor, isSandboxed, probeHere, type SandboxWiring, wireSandbox } from "./sandbox.ts"

export interface WireRequest {
  readonly environment: AppEnvironment
  /** The value of `-C`; without it the workspace is found from the current directory. */
  readonly workspace: string | undefined
  readonly configFile: string | undefined
  /** True with `--allow-broad-workspace`: the workspace may be a home directory or one of the system. */
  readonly allowsBroad?: boolean | undefined
  /** The answers given in advance with `--yes`. */
  readonly yes?: GivenYes | undefined
  /** The addresses where model servers are searched for; tests use their own. */
  readonly usualServers?: readonly UsualServer[] | undefined
  /** Resolves host names for commands; tests pass their own. */
  readonly resolveHost?: ResolveHost | undefined
  /** The clock for wall time and monotonic time; tests pass their own. */
  readonly clock?: Clock | undefined
  readonly uptimeMs?: (() => number) | undefined
  /** Prints a notice once, such as about settings that are not in force. */
  readonly notice?: ((text: string) => void) | undefined
}

const noSpace = "ACODE-DB-004"

/** Constructs the parts of one workspace, each on first use. Nothing else constructs them. */
export class Wiring implements Disposable {
  readonly root: WorkspaceRoot
  readonly places: StatePlaces
  readonly clock: Clock
  readonly faults: Faults
  /** The answers given in advance; a resumed session has those given when it started. */
  yes: GivenYes | undefined
  /** The mode of the driven session; null without a session, and in sessions without models. */
  mode: Mode | null = null
  /** Aborted when a person stops acode, which ends reading and copying of files. Set by verbs that can be stopped. */
  stopping: AbortSignal | null = null
  /** The output files of this process, and of dead processes whose sessions are recovered. */
  readonly ownOutputs = ownOutputs()
  private readonly changed: Failure[] = []
  private loaded: Promise<LoadedConfig> | null = null
  private opened: Store | null = null
  private read: Store | null = null
  private plainRedactor: Redactor | null = null
  private shared: Promise<CommandRunner> | null = null
  private files: Promise<OpenWorkspace> | null = null
  private probed: Promise<SandboxProbe> | null = null
  private readonly disposables = new DisposableStack()

  constructor(readonly request: WireRequest) {
    const { environment, workspace } = request
    this.yes = request.yes
    this.clock = request.clock ?? systemClock
    this.root = new WorkspaceRoot(workspace ?? locateWorkspace(requiredDirectory(currentDirectory())))
    this.places = statePlaces(this.root.path, environment)
    this.faults = environment.failpoint === null ? noFaults : killAt(environment.failpoint)
  }

  /** Returns the directory acode was called from as a path from the root; the root itself when called from outside. */
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

  /** Opens the history, and creates it on first use. Executions that a dead acode left open are closed first. */
  async store(): Promise<Store> {
    if (this.opened !== null) return this.opened
    if (this.request.allowsBroad !== true) assertNarrow(this.root.path, this.request.environment.home)
    const options = await this.storeOptions()
    if (hasOldState(this.places)) await this.takeOverOldState(options)
    // Printed only when a new history begins.
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

  /** Closes interrupted sessions. The code is loaded only when there is one: most commands find none. */
  private async endInterruptedSessions(store: Store): Promise<void> {
    // A plan run is never resumed; other sessions wait until a person resumes them.
    const interrupted = store.sessions.interrupted(owner => isProcessAlive(owner), "plan")
    if (interrupted.length === 0) return
    const { recoverSessions } = await import("../session-recovery.ts")
    await recoverSessions(await this.workspace(), store, interrupted, this.ownOutputs)
  }

  /** Returns the history if it is open; null otherwise. */
  openedStore(): Store | null {
    return this.opened ?? this.read
  }

  /**
   * Opens the history; null when nothing was ever recorded here. On a read-only or full disk it is only read, and
   * executions that a dead acode left open stay open.
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

  /** Moves state of an older acode out of `.agent`. The code is loaded only when there is such state. */
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

  /** Returns the one shared runner: its queue limits how many commands run at the same time. */
  runner(): Promise<CommandRunner> {
    this.shared ??= this.store().then(store =>
      this.runnerWith(logRecorder(store, processIdentity()), "person"),
    )
    return this.shared
  }

  /** Returns a runner for probes of the machine, which are not recorded. */
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

  /** Returns what confines commands by default. Probed once. */
  sandboxKind(): Promise<Sandbox["kind"]> {
    this.probed ??= this.config().then(({ values }) => probeHere(values, this.root.path))
    return this.probed.then(({ kind }) => kind)
  }

  /** Returns whether commands are confined by default, and not only with reduced confinement. */
  async hasSandbox(): Promise<boolean> {
    return isSandboxed(await this.sandboxKind())
  }

  /** Opens the user's files and the copies from which they can be restored. */
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

  /** Returns the problems of records that do not match the signed events and were shown or skipped nevertheless. */
  changedRecords(): readonly Failure[] {
    return [...this.changed, ...(this.openedStore()?.changed() ?? [])]
  }

  /** Closes the history, so that SQLite removes its temporary files. The next use opens it again. */
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

/** Returns the current directory; null when it was removed while acode was started in it. */
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

/** Records an execution outside a session: two commits, then the anchor. */
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
