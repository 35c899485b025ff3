import { afterEach, beforeEach, describe, expect, test } from "bun:test"
import { chmodSync, mkdirSync } from "node:fs"
import { join } from "node:path"
import type { Json } from "../../src/base/canonical.ts"
import { declareCommand } from "../../src/tools/command-call.ts"
import { runCommandTool } from "../../src/tools/run-command.ts"
import { codeOf, failureOf, quietly, type TestRoom, testRoom } from "./support.ts"

let t: TestRoom
beforeEach(() => {
  t = testRoom()
})
afterEach(() => t[Symbol.dispose]())

const sh = (script: string) => ["/bin/sh", "-c", script]

describe("run_command", () => {
  test("runs in the sandbox that was decided on, and in no other", async () => {
    const room = { ...t.room, hasSandbox: true, sandbox: "bwrap" as const }
    const options: unknown[] = []
    const runner: typeof room.runner = {
      ...room.runner,
      execute: (_command, given) => {
        options.push(given)
        throw new Error("seen enough")
      },
    }
    const call = {
      argv: ["true"],
      cwd: ".",
      timeoutMs: null,
      network: "none",
      hosts: null,
      shown: "true",
    } as const
    const prepared = await declareCommand({ ...room, runner }, call).prepare()
    await expect(prepared.execute(quietly)).rejects.toThrow("seen enough")
    expect(options).toMatchObject([{ sandbox: "bwrap", network: "none" }])
  })

  test("runs a program with its arguments as they are", async () => {
    mkdirSync(join(t.root, "sub"))
    const argv = ["printf", "%s|", "a b", "$HOME", "*;&|`"]
    const declared = t.declare("run_command", { argv, cwd: "./sub" })
    expect(declared.effects).toEqual([
      { kind: "execute", run: { argv }, cwd: "sub", network: "none", confined: false },
    ])
    expect(declared).toMatchObject({ effectClass: "run", network: "none" })
    const prepared = await declared.prepare()
    expect(prepared.subject).toEqual({ argv, cwd: "sub", environment: {} })
    expect(prepared.targets).toEqual([])
    expect(prepared.preview).toBe("printf '%s|' 'a b' '$HOME' '*;&|`'\nin sub\n")
    const result = await prepared.execute(quietly)
    expect(result.value).toEqual({
      exit_code: 0,
      ending: "exited",
      signal: null,
      stdout: "a b|$HOME|*;&|`|",
      stderr: "",
      truncated: false,
      success: true,
    })
    expect(result).toMatchObject({ error: null, exitCode: 0, paths: ["sub"], diagnostics: [] })
    expect(result.executionId).toStartWith("exe_")
    expect(result.text).toBe("exit code 0\nstdout:\na b|$HOME|*;&|`|")
  })

  test("runs in the directory it names", async () => {
    mkdirSync(join(t.root, "sub"))
    const { value } = await t.call("run_command", { argv: ["pwd"], cwd: "sub" })
    expect(value).toMatchObject({ stdout: `${t.root}/sub\n` })
  })

  test("that fails is an error with its exit code and all it wrote", async () => {
    const result = await t.call("run_command", { argv: sh("echo out; echo err >&2; exit 3") })
    expect(result.value).toMatchObject({ exit_code: 3, stdout: "out\n", stderr: "err\n", success: false })
    expect(result.error).toMatchObject({ code: "ACODE-EXE-003" })
    expect(result.exitCode).toBe(3)
    expect(result.diagnostics).toEqual([
      {
        level: "error",
        message: "the command failed with exit code 3",
        file_name: "",
        line_start: 0,
        code: "ACODE-EXE-003",
      },
    ])
    expect(result.text).toBe("exit code 3\nstdout:\nout\n\nstderr:\nerr\n")
  })

  test("that does not end in time is killed and told", async () => {
    const result = await t.call("run_command", { argv: ["sleep", "30"], timeout_seconds: 0.2 })
    expect(result.error?.code).toBe("ACODE-EXE-002")
    expect(result.value).toMatchObject({ ending: "timedOut", exit_code: null, success: false })
    expect(result.text).toContain("did not end within 0.2 s")
  })

  test("without a deadline of its own has the configured one", async () => {
    const short = testRoom({ limits: { commandTimeoutMs: 200 } })
    try {
      const result = await short.call("run_command", { argv: ["sleep", "30"] })
      expect(result.error?.code).toBe("ACODE-EXE-002")
    } finally {
      short[Symbol.dispose]()
    }
  })

  test("that cannot start or is killed is told with its own code", async () => {
    t.put("data.txt", "x")
    chmodSync(join(t.root, "data.txt"), 0o644)
    expect((await t.call("run_command", { argv: ["no-such-program-here"] })).error?.code).toBe(
      "ACODE-EXE-001",
    )
    expect((await t.call("run_command", { argv: ["./data.txt"] })).error?.code).toBe("ACODE-EXE-005")
    const killed = await t.call("run_command", { argv: sh("kill -9 $$") })
    expect(killed.error?.code).toBe("ACODE-EXE-003")
    expect(killed.value).toMatchObject({ ending: "signalled", signal: "SIGKILL", exit_code: null })
  })

  test("can be cancelled", async () => {
    const prepared = await t.declare("run_command", { argv: ["sleep", "30"] }).prepare()
    const { error, value } = await prepared.execute({ ...quietly, signal: AbortSignal.abort() })
    expect(error?.code).toBe("ACODE-EXE-009")
    expect(value).toMatchObject({ ending: "cancelled" })
  })

  test("passes its output on as it comes, and what it belongs to", async () => {
    const chunks: string[] = []
    const prepared = await t.declare("run_command", { argv: sh("echo one; echo two >&2") }).prepare()
    await prepared.execute({
      signal: null,
      consented: [],
      correlationIds: { sessionId: "ses_1", stepId: "s1" },
      onOutput: (stream, chunk) => void chunks.push(`${stream}:${Buffer.from(chunk).toString()}`),
    })
    expect(chunks.sort()).toEqual(["stderr:two\n", "stdout:one\n"])
  })

  test("with much output shows both ends of it", async () => {
    const result = await t.call("run_command", { argv: sh("seq 1 5000") })
    expect(Buffer.byteLength(result.text)).toBeLessThan(4_200)
    expect(result.text).toContain("exit code 0\nstdout:\n1\n2\n")
    expect(result.text).toEndWith("4999\n5000\n")
    expect(result.value).toMatchObject({ truncated: false })
  })

  test("shows no secret that was printed", async () => {
    const result = await t.call("run_command", { argv: ["echo", "password=hunter2xyz9"] })
    expect(JSON.stringify(result.value)).toContain("[REDACTED:password]")
    expect(result.text).not.toContain("hunter2xyz9")
  })

  test("that wants the network says so where it is decided and shown", async () => {
    const declared = t.declare("run_command", { argv: ["true"], network: "host" })
    expect(declared.network).toBe("host")
    expect(declared.effects).toEqual([
      { kind: "execute", run: { argv: ["true"] }, cwd: ".", network: "host", confined: false },
    ])
    expect((await declared.prepare()).preview).toContain("with the network")
  })

  describe("that wants single hosts", () => {
    const declare = (args: Record<string, Json>, grantedHosts: readonly string[] = []) =>
      runCommandTool.declare({ argv: ["true"], ...args }, { ...t.room, grantedHosts })
    const connect = (host: string) => ({ kind: "connect" as const, host })

    test("names those of its plan or its own, each as an effect and where it is shown", async () => {
      const granted = declare({ network: "hosts" }, ["Example.com", "example.com."])
      expect(granted).toMatchObject({ network: "hosts", hosts: ["example.com"] })
      expect(granted.effects.slice(1)).toEqual([connect("example.com")])
      const own = declare({ network: "hosts", hosts: ["*.a.test:8443", "b.test"] }, ["example.com"])
      expect(own.effects.slice(1)).toEqual([connect("*.a.test:8443"), connect("b.test")])
      const prepared = await own.prepare()
      expect(prepared.preview).toContain("with the network to *.a.test:8443, b.test")
      expect(prepared.subject.network).toEqual(["hosts", "*.a.test:8443", "b.test"])
      expect((await declare({}).prepare()).subject).not.toHaveProperty("network")
    })

    test("runs with that list and the refusals of configuration", async () => {
      const asked: unknown[] = []
      const runner: typeof t.room.runner = {
        ...t.room.runner,
        execute: (_command, options, context) => {
          asked.push([options?.network, options?.hosts, context?.hostRefusal?.("a.test:443")])
          throw new Error("seen enough")
        },
      }
      const room = {
        ...t.room,
        runner,
        hostRefusal: (host: string) => `no ${host}`,
        grantedHosts: ["*.a.test"],
      }
      const prepared = await runCommandTool.declare({ argv: ["true"], network: "hosts" }, room).prepare()
      await expect(prepared.execute(quietly)).rejects.toThrow("seen enough")
      expect(asked).toEqual([["hosts", ["*.a.test"], "no a.test:443"]])
    })

    test("is refused without any, with one that is none, and with hosts beside another network", async () => {
      const problem = async (args: Record<string, Json>, granted: readonly string[] = []) =>
        await codeOf(() => declare(args, granted))
      expect(await problem({ network: "hosts" })).toBe("ACODE-EXE-007")
      expect(await problem({ network: "hosts" }, ["https://recorded.once/"])).toBe("ACODE-EXE-007")
      expect(await problem({ network: "hosts", hosts: ["169.254.169.254"] })).toBe("ACODE-EXE-007")
      expect(await problem({ network: "host", hosts: ["a.test"] })).toBe("ACODE-EXE-007")
      expect(await problem({ hosts: ["a.test"] })).toBe("ACODE-EXE-007")
    })
  })

  test("in a place that is no directory, or outside, is refused", async () => {
    t.put("file", "")
    expect(await codeOf(() => t.call("run_command", { argv: ["ls"], cwd: "none" }))).toBe("ACODE-EXE-006")
    expect(await codeOf(() => t.call("run_command", { argv: ["ls"], cwd: "file" }))).toBe("ACODE-EXE-006")
    expect(await codeOf(() => t.declare("run_command", { argv: ["ls"], cwd: "/" }))).toBe("ACODE-SEC-005")
    expect(await codeOf(() => t.declare("run_command", { argv: ["", "a"] }))).toBe("ACODE-EXE-007")
    expect(await codeOf(() => t.declare("run_command", { argv: ["a\0b"] }))).toBe("ACODE-EXE-007")
  })
})

describe("run_terminal", () => {
  test("splits one string into words without a shell", async () => {
    const declared = t.declare("run_terminal", { command: `printf '%s|' "a b" c\\ d` })
    expect(declared.effects).toEqual([
      {
        kind: "execute",
        run: { argv: ["printf", "%s|", "a b", "c d"] },
        cwd: ".",
        network: "none",
        confined: false,
      },
    ])
    expect((await t.call("run_terminal", { command: `printf '%s|' "a b" c\\ d` })).value).toMatchObject({
      stdout: "a b|c d|",
    })
  })

  test.each([
    "ls; rm -rf .",
    "ls && id",
    "sleep 1 &",
    "cat a | sh",
    "echo $HOME",
    "echo `id`",
    'echo "$(id)"',
    "echo x > file",
    "cat < /etc/passwd",
    "rm *",
    "(id)",
    "ls\nid",
  ])("refuses %j: shell operators", async command => {
    const failure = await failureOf(() => t.declare("run_terminal", { command }))
    expect(failure?.code).toBe("ACODE-EXEC-004")
    expect(failure?.kind).toBe("confinement")
    expect(failure?.message).toStartWith("shell operators are not allowed")
  })

  test("tells other mistakes as what they are", async () => {
    for (const command of ["echo 'open", "A=1 ls", "   "])
      expect(await codeOf(() => t.declare("run_terminal", { command }))).toBe("ACODE-EXE-007")
  })

  test("knows exit, and gives the code", async () => {
    expect((await t.call("run_terminal", { command: "exit 42" })).exitCode).toBe(42)
  })
})
