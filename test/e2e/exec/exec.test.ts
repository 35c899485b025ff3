import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { acodeProgram, repositoryRoot, runAcode } from "../../support/acode.ts"
import { missingSandbox } from "../../support/requirement.ts"
import { type TempWorkspace, tempWorkspace } from "../../support/workspace/temp-workspace.ts"

let workspace: TempWorkspace

beforeAll(() => {
  workspace = tempWorkspace({ git: true })
})
afterAll(() => workspace[Symbol.dispose]())

function acode(args: readonly string[], more: { env?: Record<string, string>; stdin?: string } = {}) {
  return runAcode(args, {
    cwd: workspace.root,
    env: { ...workspace.environment, ...more.env },
    stdin: more.stdin ?? "",
  })
}

describe("the exit code of exec is the command's own", () => {
  test("hello is printed and exits 0", async () => {
    expect(await acode(["exec", "--", "echo", "hello"])).toMatchObject({ exitCode: 0, stdout: "hello\n" })
  })

  test("one string is split without a shell", async () => {
    expect(await acode(["exec", "echo hello"])).toMatchObject({ exitCode: 0, stdout: "hello\n" })
    expect((await acode(["exec", "exit 42"])).exitCode).toBe(42)
  })

  for (const [line, exitCode] of [
    [["exec", "--", "sh", "-c", "exit 7"], 7],
    [["exec", "--", "sh", "-c", "kill -TERM $$"], 143],
    [["exec", "--", "sh", "-c", "kill -KILL $$"], 137],
    [["exec", "--timeout", "0.3", "--", "sleep", "60"], 124],
    [["exec", "sleep 60", "--timeout", "0.3"], 124],
    [["exec", "--", "no-such-program-anywhere"], 127],
    [["exec", "--", "./not-executable"], 126],
    [["exec", "--", ""], 125],
    [["exec", "--", "   "], 125],
    [["exec"], 125],
    [["exec", "--timeout", "0", "--", "true"], 125],
    [["exec", "--timeout", "-3", "--", "true"], 125],
    [["exec", "--timeout", "soon", "--", "true"], 125],
    [["exec", "--timuot", "3", "--", "true"], 125],
    [["-q", "exec", "--timuot", "3", "--", "true"], 125],
    [["--json", "exec"], 125],
    [["-C", ".", "exec"], 125],
    [["-C", "missing", "exec", "--", "true"], 125],
    [["exec", "--cwd", "missing", "--", "true"], 125],
    [["exec", "--cwd", "/etc", "--", "true"], 125],
    [["exec", "--cwd", "out", "--", "true"], 125],
    [["exec", "--env", "1A=x", "--", "true"], 125],
    [["exec", "--env", "novalue", "--", "true"], 125],
    [["exec", "--memory", "0", "--", "true"], 125],
    [["exec", "--max-output", "0", "--", "true"], 125],
    [["exec", "--sandbox", "container", "--", "true"], 125],
    [["exec", "echo a | wc -l"], 125],
    [["exec", "echo $HOME"], 125],
  ] as const)
    test(`${line.join(" ")} exits ${exitCode}`, async () => {
      writeFileSync(join(workspace.root, "not-executable"), "echo no\n")
      if (!existsSync(join(workspace.root, "out"))) symlinkSync("/etc", join(workspace.root, "out"))
      const result = await acode(line)
      expect(result.exitCode).toBe(exitCode)
      // Whatever went wrong, a person reads a sentence with a code and never a stack trace.
      expect(result.stderr).not.toMatch(/^\s+at .+:\d+/m)
      if (exitCode >= 124 && exitCode <= 127) expect(result.stderr).toMatch(/ACODE-(EXE|CLI|SEC)-\d{3}/)
    })

  test("a malformed variable of acode's own refuses exec with its code, wherever the flags stand", async () => {
    for (const line of [
      ["exec", "--", "true"],
      ["-q", "exec", "--", "true"],
    ])
      expect(await acode(line, { env: { ACODE_JSON: "maybe" } })).toMatchObject({ exitCode: 125, stdout: "" })
    expect((await acode(["runs", "list"], { env: { ACODE_JSON: "maybe" } })).exitCode).toBe(3)
  })

  test("a usage error suggests the nearest flag", async () => {
    expect((await acode(["exec", "--timeuot", "3", "--", "true"])).stderr).toContain(
      "did you mean --timeout?",
    )
  })
})

describe("what exec prints", () => {
  test("stdout is byte-exact when piped, binary included", async () => {
    const bytes = Buffer.from(Array.from({ length: 4096 }, (_, index) => index % 256))
    writeFileSync(join(workspace.root, "bytes.bin"), bytes)
    const piped = Bun.spawnSync([acodeProgram(), "exec", "--", "cat", "bytes.bin"], {
      cwd: workspace.root,
      env: { ...workspace.environment },
    })
    expect(Buffer.from(piped.stdout).equals(bytes)).toBe(true)
  })

  test("stderr of the command goes to stderr", async () => {
    const result = await acode(["exec", "--", "sh", "-c", "echo out; echo err > /dev/stderr"])
    expect(result.stdout).toBe("out\n")
    expect(result.stderr).toContain("err\n")
  })

  test("piped standard input reaches the command", async () => {
    expect(await acode(["exec", "--", "cat"], { stdin: "given\n" })).toMatchObject({
      exitCode: 0,
      stdout: "given\n",
    })
  })

  test("what a command reads at a terminal is told in the help", async () => {
    expect((await acode(["exec", "--help"])).stdout).toMatch(/At a terminal its standard input is empty/)
  })

  test("--json is one object with the same keys whatever the ending", async () => {
    const lines = [
      ["--", "true"],
      ["--", "sh", "-c", "exit 3"],
      ["--timeout", "0.2", "--", "sleep", "9"],
      ["--", "sh", "-c", "kill -9 $$"],
      ["--", "no-such-program-anywhere"],
    ]
    const records = []
    for (const line of lines) records.push(JSON.parse((await acode(["exec", "--json", ...line])).stdout))
    const keys = records.map(record => Object.keys(record.result).sort().join())
    expect(new Set(keys).size).toBe(1)
    expect(records.map(record => record.result.ending)).toEqual([
      "exited",
      "exited",
      "timedOut",
      "signalled",
      "notStarted",
    ])
    expect(records.map(record => record.result.success)).toEqual([true, false, false, false, false])
    expect(records[3].result.signal).toBe("SIGKILL")
    expect(records[2].result.error.code).toBe("ACODE-EXE-002")
  })

  test("a refusal with --json is JSON too", async () => {
    const result = await acode(["exec", "--json", "--timeout", "0", "--", "true"])
    expect(result.exitCode).toBe(125)
    expect(JSON.parse(result.stdout).error).toMatchObject({
      code: "ACODE-EXE-007",
      message: expect.stringContaining("--timeout takes a number of seconds from 0.001 to 604800, not"),
    })
  })
})

test("a command sees nothing of how acode itself was started", async () => {
  const { stdout } = await acode(["exec", "--", "env"])
  expect(stdout).toContain("ACODE_EXECUTION_ID=")
  expect(stdout).not.toContain("BUN_")
})

describe("secrets of the environment stay outside", () => {
  const secret = "hunter2-hunter2-hunter2"

  test("the value appears neither in the output nor anywhere in .agent", async () => {
    const result = await acode(["exec", "--", "env"], { env: { API_SECRET: secret } })
    expect(result.exitCode).toBe(0)
    expect(result.stdout).not.toContain(secret)
    await acode(["exec", "--json", "--", "echo", secret, Buffer.from(secret).toString("base64")], {
      env: { API_SECRET: secret },
    })
    const agent = workspace.state()
    for (const needle of [secret, Buffer.from(secret).toString("base64"), encodeURIComponent(secret)]) {
      const found = Bun.spawnSync(["grep", "-rla", "--", needle, agent])
      expect(found.stdout.toString()).toBe("")
    }
  })

  test("--env puts a variable in and --env-mode replace leaves the rest out", async () => {
    const result = await acode(["exec", "--env", "GREETING=hi", "--env-mode", "replace", "--", "env"], {
      env: { OTHER_THING: "1" },
    })
    expect(result.stdout).toContain("GREETING=hi\n")
    expect(result.stdout).not.toContain("OTHER_THING")
  })
})

describe("a variable that is set already", () => {
  const env = { NODE_ENV: "prod" }
  const line = (...more: string[]) => ["exec", "--json", ...more, "--env", "NODE_ENV=test", "--env", "NEW=1"]

  test("keeps its value, which is told, and nothing else is recorded", async () => {
    const { stdout, stderr } = await acode([...line(), "--", "printenv", "NODE_ENV"], { env })
    const { command, result } = JSON.parse(stdout)
    expect([result.stdout, command.environment]).toEqual(["prod\n", { NEW: "1" }])
    expect(stderr).toMatch(/--env did not change NODE_ENV, .* --env-mode merge/)
  })

  test("is replaced with --env-mode merge, or when there is nothing to replace", async () => {
    for (const [more, given] of [
      [["--env-mode", "merge"], env],
      [[], {}],
      [[], { NODE_ENV: "test" }],
    ] as const) {
      const run = await acode([...line(...more), "--", "printenv", "NODE_ENV"], { env: { ...given } })
      const { command, result } = JSON.parse(run.stdout)
      expect([result.stdout, command.environment]).toEqual(["test\n", { NODE_ENV: "test", NEW: "1" }])
      expect(run.stderr.replace(/^no sandbox: .*\n/, "")).toBe("")
    }
  })
})

test("a command leaves the workspace as it would without acode", async () => {
  mkdirSync(join(workspace.root, "sub"), { recursive: true })
  expect((await acode(["exec", "--cwd", "sub", "--", "sh", "-c", "echo made > made.txt"])).exitCode).toBe(0)
  expect(readFileSync(join(workspace.root, "sub/made.txt"), "utf8")).toBe("made\n")
})

describe("a command runs where acode was called", () => {
  const sandboxes = missingSandbox === null ? ["auto", "none"] : ["none"]
  const place = (path: string) => join(workspace.root, path)
  const from = (cwd: string, args: readonly string[], env: Readonly<Record<string, string>> = {}) =>
    runAcode(args, { cwd, env: { ...workspace.environment, ...env } })

  beforeAll(() => {
    mkdirSync(place("one/two/three"), { recursive: true })
    mkdirSync(join(workspace.outside, "elsewhere"))
    writeFileSync(place("one/two/here.sh"), "#!/bin/sh\necho here\n", { mode: 0o755 })
    symlinkSync("one/two", place("inner"))
    symlinkSync(place("one"), join(workspace.outside, "into"))
    symlinkSync(join(workspace.outside, "elsewhere"), place("outwards"))
  })

  for (const sandbox of sandboxes) {
    const exec = (...words: string[]) => ["exec", "--sandbox", sandbox, ...words]

    test(`at every depth, with PWD saying so (${sandbox})`, async () => {
      for (const path of ["", "one", "one/two", "one/two/three"]) {
        const cwd = join(workspace.root, path)
        for (const line of [exec("--", "pwd", "-P"), ["-C", workspace.root, ...exec("--", "pwd", "-P")]])
          expect(await from(cwd, line)).toMatchObject({ exitCode: 0, stdout: `${cwd}\n` })
        const told = await from(cwd, exec("--cwd", place("one"), "--", "printenv", "PWD"), { PWD: cwd })
        expect(told.stdout).toBe(`${place("one")}\n`)
      }
      const { command } = JSON.parse((await from(place("one/two"), exec("--json", "--", "true"))).stdout)
      expect(command.workingDirectory).toBe("one/two")
    })

    test(`and relative programs, --cwd and --writable count from there (${sandbox})`, async () => {
      const two = place("one/two")
      expect((await from(two, exec("--", "./here.sh"))).stdout).toBe("here\n")
      expect((await from(place("one"), exec("--", "two/here.sh"))).stdout).toBe("here\n")
      expect((await from(place("one"), exec("--cwd", "two", "--", "./here.sh"))).stdout).toBe("here\n")
      expect((await from(two, exec("--cwd", "../..", "--", "pwd", "-P"))).stdout).toBe(`${workspace.root}\n`)
      expect((await from(two, exec("--cwd", "../../..", "--", "pwd"))).exitCode).toBe(125)
      expect((await from(two, exec("--cwd", "two", "--", "pwd"))).exitCode).toBe(125)
      const write = (path: string) => exec("--writable", path, "--", "sh", "-c", `echo x >> '${path}'`)
      expect((await from(two, write("./.npmrc"))).exitCode).toBe(0)
      expect(readFileSync(place("one/two/.npmrc"), "utf8")).toBe("x\n")
      const hook = exec("--writable", ".git", "--", "touch", place(`.git/opened-${sandbox}`))
      expect((await from(two, hook)).exitCode).toBe(0)
      rmSync(place("one/two/.npmrc"))
    })

    test(`through links: where the link really leads (${sandbox})`, async () => {
      const physical = exec("--", "pwd", "-P")
      expect((await from(place("inner"), physical)).stdout).toBe(`${place("one/two")}\n`)
      expect((await from(join(workspace.outside, "into/two"), physical)).stdout).toBe(`${place("one/two")}\n`)
      const outwards = await from(place("outwards"), ["-C", workspace.root, ...physical])
      expect(outwards.stdout).toBe(`${workspace.root}\n`)
    })

    test(`and in the root of the workspace when called from outside of it (${sandbox})`, async () => {
      const elsewhere = join(workspace.outside, "elsewhere")
      for (const cwd of [elsewhere, workspace.outside, "/"]) {
        const run = await from(cwd, ["-C", workspace.root, ...exec("--", "pwd", "-P")])
        expect(run).toMatchObject({ exitCode: 0, stdout: `${workspace.root}\n` })
      }
      const named = await from(elsewhere, ["-C", workspace.root, ...exec("--cwd", "one", "--", "pwd", "-P")])
      expect(named.stdout).toBe(`${place("one")}\n`)
    })
  }

  test("a directory that was removed is an error that says so, unless the workspace is named", async () => {
    const gone = join(workspace.outside, "gone")
    const script = `mkdir '${gone}' && cd '${gone}' && rmdir '${gone}' && exec "$@"`
    const call = (...args: string[]) => {
      // Not the compiled program: the runtime in it refuses such a directory itself, before the first line of acode.
      const argv = ["/bin/sh", "-c", script, "sh", join(repositoryRoot, "bin/acode"), ...args]
      const { exitCode, stdout, stderr } = Bun.spawnSync(argv, { env: { ...workspace.environment } })
      return { exitCode, stdout: stdout.toString(), stderr: stderr.toString() }
    }
    for (const [verb, exitCode] of [
      [["exec", "--", "pwd"], 125],
      [["runs", "list"], 2],
    ] as const) {
      const run = call(...verb)
      expect(run).toMatchObject({ exitCode, stdout: "" })
      expect(run.stderr).toContain("ACODE-CLI-006")
      expect(run.stderr).toContain("-C DIR")
    }
    const named = call("-C", workspace.root, "exec", "--", "pwd", "-P")
    expect(named).toMatchObject({ exitCode: 0, stdout: `${workspace.root}\n` })
  })
})
