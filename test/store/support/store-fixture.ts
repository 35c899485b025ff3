import { existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { noFaults } from "../../../src/base/faults.ts"
import type { CommandResult, ExecutionRecord } from "../../../src/domain/command-result.ts"
import { Failure } from "../../../src/domain/failure.ts"
import type { ArtifactStore, Store, StoreRedactor } from "../../../src/store/contract.ts"
import type { StartedFields } from "../../../src/store/executions/execution-outcome.ts"
import { openStore, type StoreOptions } from "../../../src/store/open-store.ts"
import { processIdentity } from "../../../src/store/process-identity.ts"
import { type FixedClock, fixedClock } from "../../support/fixed-clock.ts"

/** The places of one workspace's history, all below one temporary directory that `using` removes. */
export interface StoreFixture extends Disposable {
  readonly directory: string
  readonly clock: FixedClock
  readonly options: StoreOptions
  open(overrides?: Partial<StoreOptions>): Store
}

/**
 * Files are kept in memory where the system offers that: most tests ask nothing about the disk and would spend most of
 * their time waiting for it. Those that are about crashes, processes and full disks ask for the disk.
 */
export function storeFixture({ onDisk = false } = {}): StoreFixture {
  const place = !onDisk && existsSync("/dev/shm") ? "/dev/shm" : tmpdir()
  const directory = realpathSync(mkdtempSync(join(place, "acode-store-")))
  const clock = fixedClock()
  const opened: Store[] = []
  const options = storeOptions(directory, { clock })
  return {
    directory,
    clock,
    options,
    open: (overrides = {}) => {
      const store = openStore({ ...options, ...overrides })
      opened.push(store)
      return store
    },
    [Symbol.dispose]: () => {
      for (const store of opened) store[Symbol.dispose]()
      rmSync(directory, { recursive: true, force: true })
    },
  }
}

/** Where a store below `directory` keeps its things; children in other processes use the same places. */
export function storeOptions(directory: string, overrides: Partial<StoreOptions> = {}): StoreOptions {
  const place = join(directory, "workspace")
  mkdirSync(place, { recursive: true })
  return {
    databasePath: join(place, ".agent", "workspace.db"),
    artifactsDirectory: join(place, ".agent", "artifacts"),
    keysDirectory: join(directory, "data", "keys"),
    anchorsDirectory: join(directory, "data", "anchors"),
    stateDirectory: place,
    redactor: keepsEverything,
    clock: fixedClock(),
    faults: noFaults,
    self: processIdentity(),
    ...overrides,
  }
}

export const keepsEverything: StoreRedactor = { redactText: text => text, redactBytes: bytes => bytes }

/** For what names no artifact. */
export const noArtifacts: ArtifactStore = {
  put: () => "",
  putJson: () => ({ ref: "", bytes: 0 }),
  get: () => null,
}

/** Stands in for the real redactor: replaces the given texts wherever they occur. */
export function hides(...secrets: readonly string[]): StoreRedactor {
  const redactText = (text: string) =>
    secrets.reduce((left, secret) => left.replaceAll(secret, "[REDACTED:test]"), text)
  return {
    redactText,
    redactBytes: bytes => Buffer.from(redactText(Buffer.from(bytes).toString("latin1")), "latin1"),
  }
}

let lastId = 0

/** Unique within the process, and sorts as it was made. */
export function nextId(): string {
  lastId += 1
  return `exe_00000000-0000-7000-8000-${lastId.toString(16).padStart(12, "0")}`
}

export function startOf(id: string, change: DeepChange = {}): StartedFields {
  return {
    executionId: id,
    command: {
      executable: "npm",
      arguments: ["test"],
      workingDirectory: ".",
      timeoutMs: 1000,
      shell: false,
      environmentMode: "inherit",
      environment: {},
      resourceLimits: { memoryBytesMax: null, processesMax: null, cpuSecondsMax: null, fileBytesMax: null },
      ...change.command,
    },
    correlationIds: {
      runId: "run_1",
      sessionId: null,
      taskId: null,
      stepId: null,
      toolCallId: null,
      worktreeId: null,
      repoSha: null,
      ...change.correlationIds,
    },
    sandbox: { kind: "bwrap", network: "none" },
    owner: change.owner ?? processIdentity(),
  }
}

export interface DeepChange {
  readonly command?: Partial<StartedFields["command"]>
  readonly correlationIds?: Partial<StartedFields["correlationIds"]>
  readonly owner?: StartedFields["owner"]
  readonly result?: Partial<CommandResult>
}

export function recordOf(id: string, change: DeepChange = {}): ExecutionRecord {
  const start = startOf(id, change)
  return {
    id,
    command: start.command,
    result: {
      ending: "exited",
      exitCode: 0,
      signal: null,
      success: true,
      timedOut: false,
      startTime: "2026-01-02T03:04:05.678Z",
      endTime: "2026-01-02T03:04:06.178Z",
      durationMs: 500,
      queuedMs: 3,
      stdout: "fine\n",
      stderr: "",
      truncation: null,
      artifacts: { stdout: null, stderr: null },
      error: null,
      usage: { cpuMs: 12, maxRssBytes: 4096 },
      sandbox: { ...start.sandbox, quarantined: [] },
      ...change.result,
    },
    correlationIds: start.correlationIds,
  }
}

/** Runs one command through the history, start to end, and gives its id. */
export function runOne(store: Store, change: DeepChange = {}, id = nextId()): string {
  store.executions.started(startOf(id, change))
  store.executions.settled(recordOf(id, change), { stdout: null, stderr: null })
  return id
}

/** The Failure that `work` throws; anything else, and nothing at all, fails the test. */
export function failureOf(work: () => unknown): Failure {
  try {
    work()
  } catch (error) {
    if (error instanceof Failure) return error
    throw error
  }
  throw new Error("nothing was thrown")
}

export function codeOf(work: () => unknown): string {
  return failureOf(work).report.code
}
