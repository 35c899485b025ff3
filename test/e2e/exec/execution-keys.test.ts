import { Database } from "bun:sqlite"
import { afterEach, beforeEach, describe, expect, test } from "bun:test"
import { existsSync, mkdirSync, statSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { statePlaces } from "../../../src/app/state/state-directory.ts"
import { readEnvironment } from "../../../src/config/environment.ts"
import { runAcode } from "../../support/acode.ts"
import { missingProgram, missingSandbox, testWhere } from "../../support/requirement.ts"
import { type TempWorkspace, tempWorkspace } from "../../support/workspace/temp-workspace.ts"

let workspace: TempWorkspace
beforeEach(() => {
  workspace = tempWorkspace()
})
afterEach(() => workspace[Symbol.dispose]())

/** Writes the user's own file, which needs nobody's trust. */
function configure(execution: Readonly<Record<string, unknown>>): void {
  const directory = join(workspace.configHome, "acode")
  mkdirSync(directory, { recursive: true, mode: 0o700 })
  writeFileSync(join(directory, "config.yml"), JSON.stringify({ schema_version: "1", execution }))
}

const exec = (...args: readonly string[]) =>
  runAcode(["exec", ...args], { cwd: workspace.root, env: { ...workspace.environment, PLAIN_THING: "here" } })
const script = (text: string) => exec("--json", "--", "sh", "-c", text)
const places = () => statePlaces(workspace.root, readEnvironment(workspace.environment))

describe("each key of the section execution changes what becomes of a command", () => {
  test("default_timeout_seconds", async () => {
    configure({ default_timeout_seconds: 0.3 })
    expect((await exec("--", "sleep", "60")).exitCode).toBe(124)
  })

  test("max_output_kb, and the rest is kept up to artifact_max_mb", async () => {
    configure({ max_output_kb: 1, artifact_max_mb: 1 })
    const { result } = JSON.parse((await script("head -c 3000000 /dev/zero | tr '\\0' x")).stdout)
    expect(result.truncation.stdout).toMatchObject({ originalBytes: 3_000_000 })
    expect(result.truncation.stdout.keptBytes).toBeLessThanOrEqual(1024)
    const hash = String(result.truncation.stdout.artifact).replace("sha256:", "")
    const kept = statSync(join(places().artifactsDirectory, hash.slice(0, 2), hash.slice(2)))
    // Its head, its tail, and a line between them that says what is missing.
    expect(Math.abs(kept.size - 1024 * 1024)).toBeLessThan(200)
  })

  test("output_ceiling_mb ends what writes more", async () => {
    configure({ output_ceiling_mb: 1 })
    const { result } = JSON.parse((await script("yes")).stdout)
    expect([result.success, result.error.code]).toEqual([false, "ACODE-EXE-004"])
  })

  test("use_shell", async () => {
    expect((await exec("echo one | wc -w")).exitCode).toBe(125)
    configure({ use_shell: true })
    expect((await exec("echo one two | wc -w")).stdout.trim()).toBe("2")
  })

  test("kill_grace_seconds is how long a command may clean up", async () => {
    const tidy = `trap 'sleep 1; echo done > tidied; exit 0' TERM; while :; do sleep 0.05; done`
    configure({ kill_grace_seconds: 0 })
    expect((await exec("--timeout", "0.5", "--", "sh", "-c", tidy)).exitCode).toBe(124)
    expect(existsSync(join(workspace.root, "tidied"))).toBe(false)
    configure({ kill_grace_seconds: 60 })
    expect((await exec("--timeout", "0.5", "--", "sh", "-c", tidy)).exitCode).toBe(124)
    expect(existsSync(join(workspace.root, "tidied"))).toBe(true)
  })

  test("environment.mode, environment.exclude_patterns and environment.include", async () => {
    const seen = async () => (await exec("--", "sh", "-c", "printenv PLAIN_THING || echo gone")).stdout.trim()
    expect(await seen()).toBe("here")
    configure({ environment: { exclude_patterns: ["PLAIN_*"] } })
    expect(await seen()).toBe("gone")
    configure({ environment: { exclude_patterns: ["PLAIN_*"], include: ["PATH", "PLAIN_THING"] } })
    expect(await seen()).toBe("here")
    configure({ environment: { mode: "replace" } })
    expect(await seen()).toBe("gone")
  })

  test("audit.max_output_bytes and audit.include_output say what of the output is in the record", async () => {
    const recorded = () => {
      using database = new Database(places().databasePath, { readonly: true })
      const query = "SELECT data FROM events WHERE type = 'command.finished' ORDER BY position DESC LIMIT 1"
      return JSON.parse(database.query<{ data: string }, []>(query).get()?.data ?? "").result.stdout
    }
    await exec("--", "echo", "a line of output")
    expect(recorded()).toEqual({ kind: "inline", text: "a line of output\n" })
    configure({ audit: { max_output_bytes: 4 } })
    await exec("--", "echo", "a line of output")
    expect(recorded()).toMatchObject({ kind: "artifact", bytes: 17 })
    configure({ audit: { include_output: false } })
    await exec("--", "echo", "a line of output")
    expect(recorded()).toEqual({ kind: "omitted" })
  })

  test("redaction.patterns", async () => {
    configure({ redaction: { patterns: ["plum-[0-9]+"] } })
    const { result } = JSON.parse((await script("echo plum-42 pear-42")).stdout)
    expect(result.stdout).toMatch(/^\[REDACTED:[^\]]+\] pear-42\n$/)
  })

  test("limits.file_mb and limits.cpu_seconds", async () => {
    configure({ limits: { file_mb: 1, cpu_seconds: 1 } })
    expect((await exec("--", "sh", "-c", "head -c 3000000 /dev/zero > big")).exitCode).not.toBe(0)
    expect(statSync(join(workspace.root, "big")).size).toBeLessThanOrEqual(1024 * 1024)
    const { result } = JSON.parse((await script("while :; do :; done")).stdout)
    expect([result.success, result.timedOut]).toEqual([false, false])
  })

  test("sandbox", async () => {
    configure({ sandbox: "none" })
    expect(JSON.parse((await script("true")).stdout).result.sandbox.kind).toBe("none")
  })
})

describe("and what a confined one can reach", () => {
  const confined = testWhere(missingSandbox)

  confined("readable_paths", async () => {
    const sdk = join(workspace.outside, "sdk")
    mkdirSync(sdk)
    writeFileSync(join(sdk, "readme"), "an unusual place\n")
    expect((await exec("--", "cat", join(sdk, "readme"))).exitCode).not.toBe(0)
    configure({ readable_paths: [sdk] })
    expect((await exec("--", "cat", join(sdk, "readme"))).stdout).toBe("an unusual place\n")
  })

  confined("network", async () => {
    const networkOf = async () => JSON.parse((await script("true")).stdout).result.sandbox.network
    expect(await networkOf()).toBe("none")
    configure({ network: "host" })
    expect(await networkOf()).toBe("host")
  })

  testWhere(missingSandbox ?? missingProgram("/usr/bin/python3"))("unix_sockets", async () => {
    const open = ["--", "/usr/bin/python3", "-c", "import socket; socket.socket(socket.AF_UNIX)"]
    expect((await exec(...open)).exitCode).not.toBe(0)
    configure({ unix_sockets: "allow" })
    expect((await exec(...open)).exitCode).toBe(0)
  })

  testWhere(missingSandbox ?? missingProgram("/usr/bin/python3"))("limits.memory_mb", async () => {
    const take = ["--", "/usr/bin/python3", "-c", "len(bytearray(600 * 1024 * 1024))"]
    expect((await exec(...take)).exitCode).toBe(0)
    configure({ limits: { memory_mb: 100 } })
    expect((await exec(...take)).exitCode).not.toBe(0)
  })

  confined("limits.processes", async () => {
    configure({ limits: { processes: 8 } })
    const many = "for n in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16; do sleep 1 & done; wait"
    const { result } = JSON.parse((await script(many)).stdout)
    expect(`${result.stderr}${result.error?.code}`).toMatch(/[Ff]ork|ACODE-EXE-012/)
  })
})
