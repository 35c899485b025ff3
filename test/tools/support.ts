import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import type { Json } from "../../src/base/canonical.ts"
import { systemClock } from "../../src/base/clock.ts"
import { type Faults, noFaults } from "../../src/base/faults.ts"
import { Failure, type FailureReport } from "../../src/domain/failure.ts"
import { commandWords } from "../../src/exec/words.ts"
import { classify, decidePath } from "../../src/policy/protected-paths.ts"
import { createRedactor } from "../../src/redaction/redactor.ts"
import { resolveTool } from "../../src/tools/aliases.ts"
import type { CallContext, DeclaredCall, ToolDeps, ToolLimits, ToolResult } from "../../src/tools/contract.ts"
import { checkArguments } from "../../src/tools/registry.ts"
import { textChanges } from "../../src/workspace/change/changes.ts"
import { openWorkspace } from "../../src/workspace/workspace.ts"
import { testRunner } from "../exec/support/test-runner.ts"
import { codeParts } from "../support/workspace/code-parts.ts"

export interface TestRoom extends Disposable {
  readonly room: ToolDeps
  readonly root: string
  readonly outside: string
  put(path: string, content: string | Uint8Array): void
  read(path: string): string
  bytes(path: string): Buffer
  has(path: string): boolean
  declare(tool: string, args: Json): DeclaredCall
  call(tool: string, args: Json): Promise<ToolResult>
}

const limits: ToolLimits = {
  viewBytesMax: 4_000,
  editBytesMax: 1_000_000,
  matchesMax: 50,
  entriesMax: 50,
  searchTimeoutMs: 5_000,
  commandTimeoutMs: 10_000,
}

export const quietly: CallContext = { signal: null, consented: [], correlationIds: {}, onOutput: null }

export interface TestRoomOptions {
  readonly limits?: Partial<ToolLimits>
  readonly secretValues?: readonly string[]
  readonly extraPatterns?: readonly string[]
  readonly faults?: Faults
}

/** Everything tools are made of, on a workspace of its own. Policy is not asked; the guard is. */
export function testRoom(options: TestRoomOptions = {}): TestRoom {
  const runner = testRunner()
  const { root, outside } = runner.workspace
  const { workspace } = openWorkspace({
    directory: root,
    checkpointDirectory: join(root, ".agent/checkpoints"),
    checkpointLimits: { fileBytesMax: 1e6, totalBytesMax: 1e7 },
    guard: (path, operation) => {
      if (decidePath(path, operation).decision !== "deny") return
      throw new Failure({ kind: "confinement", code: "ACODE-SEC-003", message: `${path} is protected` })
    },
    isHidden: path => classify(path) === "hidden",
    isProtected: path => classify(path) !== "open",
    ownOutputs: new Set(),
    ripgrep: null,
    clock: systemClock,
    faults: options.faults ?? noFaults,
  })
  const { secretValues = [], extraPatterns = [] } = options
  const room: ToolDeps = {
    workspace,
    changes: textChanges,
    redactor: createRedactor({ secretValues, extraPatterns }),
    runner: runner.runner,
    splitCommand: commandWords,
    hasSandbox: false,
    grantedHosts: [],
    hostRefusal: () => null,
    skills: { workspaceFileOf: () => null, read: () => ({ text: "", references: [] }) },
    sandbox: "none",
    ...codeParts,
    limits: { ...limits, ...options.limits },
  }
  const declare = (name: string, args: Json) => declared(room, name, args)
  return {
    room,
    root,
    outside,
    put: (path, content) => void runner.workspace.write(path, content),
    read: path => readFileSync(join(root, path), "utf8"),
    bytes: path => readFileSync(join(root, path)),
    has: path => existsSync(join(root, path)),
    declare,
    call: async (name, args) => (await declare(name, args).prepare()).execute(quietly),
    [Symbol.dispose]: () => {
      workspace[Symbol.dispose]()
      runner[Symbol.dispose]()
    },
  }
}

function declared(room: ToolDeps, name: string, args: Json): DeclaredCall {
  const resolved = resolveTool(name)
  if (resolved.kind !== "tool") throw new Error(`${name} is ${resolved.kind}`)
  const problems = checkArguments(resolved, args)
  if (problems.length > 0) throw new Error(`${name}: ${JSON.stringify(problems)}`)
  return resolved.tool.declare(resolved.rename(args), room)
}

/** What a call ends with when it throws; anything that is no Failure goes on. */
export async function failureOf(step: () => Promise<unknown> | unknown): Promise<FailureReport | null> {
  try {
    await step()
    return null
  } catch (error) {
    if (error instanceof Failure) return error.report
    throw error
  }
}

export async function codeOf(step: () => Promise<unknown> | unknown): Promise<string> {
  return (await failureOf(step))?.code ?? "none"
}
