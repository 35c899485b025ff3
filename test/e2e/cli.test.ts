import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { chmodSync, existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { cliCommands } from "../../src/cli/commands/table.ts"
import { acodeProgram, runAcode } from "../support/acode.ts"
import { cannotForbidNamespaces, testWhere, withoutNamespaces } from "../support/requirement.ts"
import { type TempWorkspace, tempWorkspace } from "../support/workspace/temp-workspace.ts"

let workspace: TempWorkspace

beforeAll(() => {
  workspace = tempWorkspace()
})
afterAll(() => workspace[Symbol.dispose]())

function acode(
  args: readonly string[],
  more: { env?: Record<string, string>; stdin?: string; cwd?: string } = {},
) {
  return runAcode(args, {
    cwd: more.cwd ?? workspace.root,
    env: { ...workspace.environment, ...more.env },
    stdin: more.stdin ?? "",
  })
}

test("--version prints the version of the package", async () => {
  const { version } = await Bun.file(join(import.meta.dir, "../../package.json")).json()
  expect(await acode(["--version"])).toMatchObject({ exitCode: 0, stdout: `${version}\n`, stderr: "" })
})

test("help names every command", async () => {
  const { exitCode, stdout } = await acode(["--help"])
  expect(exitCode).toBe(0)
  for (const command of cliCommands) expect(stdout).toContain(command.name)
})

describe("every command has help with an example", () => {
  for (const command of cliCommands)
    test(command.name, async () => {
      const { exitCode, stdout, stderr } = await acode([...command.name.split(" "), "--help"])
      expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" })
      expect(stdout).toContain(`acode ${command.name}`)
      expect(stdout).toContain("Examples:")
    })
})

test("half a command lists its verbs and exits 2", async () => {
  const { exitCode, stdout } = await acode(["runs"])
  expect(exitCode).toBe(2)
  expect(stdout).toContain("runs show")
})

test("an unknown command suggests the nearest and exits 2", async () => {
  const { exitCode, stderr } = await acode(["polciy", "check"])
  expect(exitCode).toBe(2)
  expect(stderr).toContain("did you mean policy? `acode policy --help` shows how it is used")
})

test("it starts from any directory and through a symlink", async () => {
  const link = join(workspace.outside, "acode-link")
  symlinkSync(acodeProgram(), link)
  const run = Bun.spawnSync([link, "--version"], { cwd: "/", env: { ...workspace.environment } })
  expect(run.exitCode).toBe(0)
})

test("configuration files of the current directory do not reach acode's own runtime", async () => {
  using trap = tempWorkspace({
    files: {
      ".env": "XDG_DATA_HOME=/nonexistent\nACODE_FAILPOINT=1\n",
      "bunfig.toml": 'preload = ["./evil.ts"]\n',
      "evil.ts": 'require("fs").writeFileSync("evil-ran", "x")\n',
      "tsconfig.json": "{ this is not json",
      "package.json": "{ nor is this",
    },
  })
  const run = await runAcode(["exec", "--", "echo", "fine"], { cwd: trap.root, env: trap.environment })
  expect(run).toMatchObject({ exitCode: 0, stdout: "fine\n" })
  expect(existsSync(join(trap.root, "evil-ran"))).toBe(false)
})

describe("redact", () => {
  test("replaces secrets and leaves the rest byte for byte", async () => {
    const token = `ghp_${"a1B2".repeat(9)}`
    const { stdout, exitCode } = await acode(["redact"], { stdin: `before ${token} after\nplain line\n` })
    expect(exitCode).toBe(0)
    expect(stdout).toMatch(/^before \[REDACTED:[a-z-]+\] after\nplain line\n$/)
  })

  test("replaces the values of secret-looking variables", async () => {
    const { stdout } = await acode(["redact"], {
      stdin: "it is s3cret-value-9 here",
      env: { MY_TOKEN: "s3cret-value-9" },
    })
    expect(stdout).not.toContain("s3cret-value-9")
  })
})

describe("config", () => {
  test("set writes the project file, get reads it, show names the origin", async () => {
    expect((await acode(["config", "set", "execution.default_timeout_seconds", "7"])).exitCode).toBe(0)
    expect(await acode(["config", "get", "execution.default_timeout_seconds"])).toMatchObject({
      stdout: "7\n",
    })
    const shown = JSON.parse((await acode(["config", "show", "--origin", "--json"])).stdout)
    expect(shown).toContainEqual({ id: "execution.default_timeout_seconds", value: 7, origin: "project" })
  })

  test("set says when what it wrote has no effect before the file is trusted", async () => {
    const untrusted = await acode(["config", "set", "model.endpoint", "http://127.0.0.1:9"])
    expect(untrusted).toMatchObject({
      exitCode: 0,
      stderr: expect.stringContaining("cannot loosen model.endpoint; `acode config trust` trusts it"),
    })
  })

  test("an unknown key suggests the nearest and exits 2", async () => {
    const { exitCode, stderr } = await acode(["config", "get", "execution.max_concurent"])
    expect(exitCode).toBe(2)
    expect(stderr).toContain("did you mean execution.max_concurrent?")
  })

  test("an invalid file exits 3 with line and column, for exec 125", async () => {
    using broken = tempWorkspace({
      files: {
        ".agent/config.yml": 'schema_version: "1"\nexecution:\n  max_concurrent: lots\n  sandbx: none\n',
      },
    })
    const there = (...args: string[]) => runAcode(args, { cwd: broken.root, env: broken.environment })
    const shown = await there("config", "show")
    expect(shown.exitCode).toBe(3)
    expect(shown.stderr).toContain("3:")
    expect(shown.stderr).toContain("4:")
    expect(shown.stderr).toContain("sandbox")
    expect((await there("exec", "--", "true")).exitCode).toBe(125)
  })

  test("a loosening key counts only once the file is trusted, and not after it changes", async () => {
    using project = tempWorkspace({
      files: { ".agent/config.yml": 'schema_version: "1"\nexecution:\n  network: host\n' },
    })
    const there = (...args: string[]) => runAcode(args, { cwd: project.root, env: project.environment })
    const network = async () => (await there("config", "get", "execution.network")).stdout.trim()
    const before = await there("config", "get", "execution.network")
    expect(before.stdout).toBe("none\n")
    expect(before.stderr).toContain("acode config trust")
    expect((await there("config", "trust")).exitCode).toBe(0)
    expect(await network()).toBe("host")
    writeFileSync(
      join(project.root, ".agent/config.yml"),
      'schema_version: "1"\nexecution:\n  network: host\n# more\n',
    )
    expect(await network()).toBe("none")
  })
})

describe("schema", () => {
  for (const name of ["config", "command-result", "events"])
    test(`${name} is a JSON Schema`, async () => {
      const { stdout, exitCode } = await acode(["schema", name])
      expect(exitCode).toBe(0)
      expect(JSON.parse(stdout).$schema).toBe("https://json-schema.org/draft/2020-12/schema")
    })

  test("an unknown one exits 2", async () => {
    expect((await acode(["schema", "cnofig"])).exitCode).toBe(2)
  })
})

describe("doctor", () => {
  test("is content with a sound machine", async () => {
    const { stdout, exitCode } = await acode(["doctor"])
    expect(stdout).toContain("runtime")
    expect(stdout).toContain("sandbox")
    expect(exitCode).toBe(0)
  })

  test("names every way to confine a command, and whether it works here", async () => {
    const { stdout } = await acode(["doctor", "--json"])
    const [found] = JSON.parse(stdout).filter((finding: { id: string }) => finding.id === "sandbox")
    for (const kind of ["native", "bwrap"]) expect(found.message).toMatch(new RegExp(`^${kind}: \\S`, "m"))
  })

  testWhere(cannotForbidNamespaces)("says what to do where nothing can confine", async () => {
    using own = tempWorkspace()
    const env = { ...own.environment, PATH: process.env["PATH"] ?? "" }
    const argv = [...withoutNamespaces, acodeProgram(), "doctor"]
    const child = Bun.spawn(argv, { cwd: own.root, env, stdout: "pipe", stderr: "pipe" })
    const stdout = await child.stdout.text()
    expect(await child.exited).toBe(0)
    expect(stdout).toMatch(/(reduced|none): commands are asked about one by one/)
    expect(stdout).toContain(
      "native: acode's launcher cannot confine here: the launcher could not make namespaces",
    )
    expect(stdout).toContain("→ allow user namespaces: sysctl user.max_user_namespaces=15000")
  })

  test("prints a profile for AppArmor that names acode's own program", async () => {
    const { stdout, exitCode } = await acode(["doctor", "--apparmor"])
    expect(exitCode).toBe(0)
    const [, program = ""] =
      /^profile acode "(.+)" flags=\(unconfined\) \{\n {2}userns,\n\}$/m.exec(stdout) ?? []
    expect(existsSync(program)).toBe(true)
    expect(JSON.parse((await acode(["doctor", "--apparmor", "--json"])).stdout)).toEqual({ profile: stdout })
  })

  test("names a corrupt database and exits 1", async () => {
    using broken = tempWorkspace()
    mkdirSync(broken.state(), { recursive: true })
    writeFileSync(broken.state("workspace.db"), "this is no database at all, not even close")
    const { stdout, exitCode } = await runAcode(["doctor"], { cwd: broken.root, env: broken.environment })
    expect(exitCode).toBe(1)
    expect(stdout).toContain("ACODE-DB-")
  })
})

describe("state that cannot be trusted or written refuses to run anything", () => {
  test("a symlink in the place of the state", async () => {
    using own = tempWorkspace()
    mkdirSync(join(own.outside, "elsewhere"))
    mkdirSync(dirname(own.state()), { recursive: true })
    symlinkSync(join(own.outside, "elsewhere"), own.state())
    const run = await runAcode(["exec", "--", "touch", "ran"], { cwd: own.root, env: own.environment })
    expect(run.exitCode).toBe(125)
    expect(existsSync(join(own.root, "ran"))).toBe(false)
  })

  test("a lost or replaced signing key", async () => {
    using own = tempWorkspace()
    const there = (...args: string[]) => runAcode(args, { cwd: own.root, env: own.environment })
    await there("exec", "--", "true")
    const keys = join(own.dataHome, "acode/keys")
    expect(existsSync(keys)).toBe(true)
    Bun.spawnSync([
      "sh",
      "-c",
      'for k in "$1"/*; do chmod 600 "$k"; head -c 32 /dev/urandom > "$k"; done',
      "sh",
      keys,
    ])
    expect((await there("exec", "--", "touch", "ran")).stderr).toContain("ACODE-SEC-00")
    Bun.spawnSync(["sh", "-c", 'rm -f "$1"/*', "sh", keys])
    const lost = await there("exec", "--", "touch", "ran")
    expect(lost.exitCode).toBe(125)
    expect(lost.stderr).toContain("ACODE-SEC-001")
    expect(existsSync(join(own.root, "ran"))).toBe(false)
    expect((await there("audit", "verify")).exitCode).toBe(65)
  })

  test("a database of a newer version is left as it is", async () => {
    using own = tempWorkspace()
    const there = (...args: string[]) => runAcode(args, { cwd: own.root, env: own.environment })
    await there("exec", "--", "true")
    const path = own.state("workspace.db")
    const { Database } = await import("bun:sqlite")
    const database = new Database(path)
    database.run("PRAGMA user_version = 999")
    database.run("PRAGMA wal_checkpoint(TRUNCATE)")
    database.close()
    const before = readFileSync(path)
    const run = await there("exec", "--", "touch", "ran")
    expect(run.exitCode).toBe(125)
    expect(run.stderr).toContain("ACODE-DB-006")
    expect(readFileSync(path).equals(before)).toBe(true)
  })

  test("an unwritable place for the state", async () => {
    using own = tempWorkspace()
    if (process.getuid?.() === 0) Bun.spawnSync(["chattr", "+i", own.stateHome])
    else chmodSync(own.stateHome, 0o500)
    try {
      const run = await runAcode(["exec", "--", "true"], { cwd: own.root, env: own.environment })
      expect(run.exitCode).toBe(125)
      expect(run.stderr).toMatch(/ACODE-DB-00[13]/)
    } finally {
      if (process.getuid?.() === 0) Bun.spawnSync(["chattr", "-i", own.stateHome])
      else chmodSync(own.stateHome, 0o700)
    }
  })
})
