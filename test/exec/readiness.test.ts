import { describe, expect, test } from "bun:test"
import { existsSync, rmSync, symlinkSync } from "node:fs"
import { join } from "node:path"
import { Failure } from "../../src/domain/failure.ts"
import type { RunnerDeps } from "../../src/exec/execution.ts"
import type { Confinement, Launch } from "../../src/sandbox/contract.ts"
import { testRunner } from "./support/test-runner.ts"

/** A sandbox that only remembers what it is asked for. */
function noting(prepare: (confinement: Confinement) => Promise<Launch>): RunnerDeps["sandboxFor"] {
  return async () => ({ sandbox: { kind: "bwrap", prepare }, notice: "take note" })
}

const refusing = (error: unknown) => noting(() => Promise.reject(error))

describe("what a sandbox is asked for", () => {
  test("is the program by its path, the filtered environment, the real directory and the limits", async () => {
    let asked: Confinement | null = null
    const sandboxFor = noting(confinement => {
      asked = confinement
      return Promise.reject(new Error("seen enough"))
    })
    using runner = testRunner({ network: "none" }, { sandboxFor })
    const { root } = runner.workspace
    runner.workspace.write("sub/file", "")
    await runner.run(
      ["sh", "-c", "x"],
      { workingDirectory: "sub", environment: { ADDED: "1" } },
      { writable: [".git/hooks", "sub"] },
    )
    expect(asked).toMatchObject({
      argv: [expect.stringMatching(/^\/.*\/sh$/), "-c", "x"],
      environment: { ADDED: "1", ACODE_EXECUTION_ID: expect.stringMatching(/^exe_/) },
      workspaceRoot: root,
      cwd: join(root, "sub"),
      network: "none",
      writable: [join(root, ".git/hooks"), join(root, "sub")],
      limits: { memoryBytesMax: null },
    })
  })
})

describe("a sandbox that cannot do it", () => {
  test("for a reason it names is told in the result, with its code and hint", async () => {
    const failure = new Failure({
      kind: "confinement",
      code: "ACODE-EXE-011",
      message: "not inside",
      hint: "add /opt",
    })
    using runner = testRunner({}, { sandboxFor: refusing(failure) })
    const { result } = await runner.sh("true")
    expect(result).toMatchObject({
      ending: "notStarted",
      error: { code: "ACODE-EXE-011", message: "not inside", details: { hint: "add /opt" } },
      sandbox: { kind: "bwrap", network: "none" },
    })
  })

  test("for a reason nobody foresaw is told as well", async () => {
    using runner = testRunner({}, { sandboxFor: refusing(new Error("odd")) })
    const { result } = await runner.sh("true")
    expect(result.error).toMatchObject({
      code: "ACODE-EXE-010",
      message: "the sandbox could not be prepared: odd",
    })
  })

  test("for want of a place to write says which one", async () => {
    const denied = Object.assign(new Error("EACCES: permission denied, mkdir '.agent'"), { code: "EACCES" })
    using runner = testRunner({}, { sandboxFor: refusing(denied) })
    const { result } = await runner.sh("true")
    expect(result.error?.details).toEqual({
      hint: "make the workspace writable for this user, or choose another one with -C",
    })
  })

  test("is written down like any other ending", async () => {
    using runner = testRunner({}, { sandboxFor: refusing(new Error("odd")) })
    await runner.sh("true")
    expect(runner.recorder.intents).toMatchObject([{ sandbox: { kind: "bwrap", network: "none" } }])
    expect(runner.recorder.records).toHaveLength(1)
  })
})

describe("whoever starts a command", () => {
  test("is told once which confinement is in force, before it starts", async () => {
    const told: unknown[] = []
    using runner = testRunner()
    const onConfined = (...all: unknown[]) => void told.push([...all, runner.recorder.intents.length])
    await runner.sh("true", {}, { onConfined })
    // Without confinement nothing keeps a command from the network, whatever was asked for.
    expect(told).toEqual([[{ kind: "none", network: "host" }, null, 0]])
  })

  test("is told of no list of hosts that nothing holds: such a command is not run", async () => {
    using runner = testRunner()
    const told: unknown[] = []
    const options = { network: "hosts", hosts: ["Example.com"] } as const
    const { result } = await runner.sh("echo > ran", options, { onConfined: (...all) => void told.push(all) })
    expect(result).toMatchObject({ ending: "notStarted", error: { code: "ACODE-EXE-010" } })
    expect(result.sandbox).toEqual({
      kind: "none",
      network: "hosts",
      hosts: ["example.com"],
      quarantined: [],
    })
    expect([told, existsSync(join(runner.workspace.root, "ran"))]).toEqual([[], false])
  })

  test("is told nothing about a command that cannot start", async () => {
    let told = 0
    using runner = testRunner()
    await runner.run(["no-such-program-anywhere"], {}, {}, { onConfined: () => void told++ })
    expect(told).toBe(0)
  })
})

test("a directory that becomes a link to outside while the command waits is refused", async () => {
  using runner = testRunner({ concurrentMax: 1 })
  runner.workspace.write("sub/file", "")
  const first = runner.sh("while [ ! -e go ]; do sleep 0.01; done")
  const waiting = runner.run(["pwd"], { workingDirectory: "sub" })
  const path = join(runner.workspace.root, "sub")
  rmSync(path, { recursive: true })
  symlinkSync("/etc", path)
  runner.workspace.write("go", "")
  await first
  expect((await waiting).result).toMatchObject({ ending: "notStarted", error: { code: "ACODE-SEC-005" } })
})
