import { afterEach, beforeEach, describe, expect, test } from "bun:test"
import { chmodSync, existsSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { ownOutputs } from "../../../src/app/own-outputs.ts"
import { Wiring } from "../../../src/app/wiring/wire.ts"
import { findRipgrep, programRunner, wireWorkspace } from "../../../src/app/wiring/workspace.ts"
import { noFaults } from "../../../src/base/faults.ts"
import { readEnvironment } from "../../../src/config/environment.ts"
import type { Workspace } from "../../../src/workspace/contract.ts"
import { missingSandbox, testWhere } from "../../support/requirement.ts"
import { type TempWorkspace, tempWorkspace } from "../../support/workspace/temp-workspace.ts"

const confinedTest = testWhere(missingSandbox)

let temp: TempWorkspace

beforeEach(() => {
  temp = tempWorkspace({ files: { "a.txt": "needle\n", "b.txt": "hay\n" } })
})
afterEach(() => temp[Symbol.dispose]())

/** A program that leaves a trace in the workspace when it runs, and answers as ripgrep does. */
function plant(path: string, lines: readonly string[] = [], mode = 0o755): string {
  mkdirSync(dirname(path), { recursive: true })
  const answers = lines.map(line => `printf '%s\\n' '${line}'`)
  writeFileSync(path, ["#!/bin/sh", "touch ran", ...answers, ""].join("\n"))
  chmodSync(path, mode)
  return path
}

describe("ripgrep", () => {
  test("is found at its absolute path on PATH", () => {
    const program = plant(join(temp.outside, "tools/rg"))
    expect(findRipgrep(temp.root, `/nonexistent:${dirname(program)}:/usr/bin`)).toBe(program)
  })

  test("is never taken from the workspace, however PATH leads there", () => {
    const planted = plant(join(temp.root, "bin/rg"))
    mkdirSync(join(temp.outside, "linked"))
    symlinkSync(planted, join(temp.outside, "linked/rg"))
    symlinkSync(dirname(planted), join(temp.outside, "linked-directory"))
    const places = ["bin", "linked", "linked-directory"].map((name, index) =>
      join(index === 0 ? temp.root : temp.outside, name),
    )
    for (const place of [...places, `${temp.root}/./bin`, `${temp.outside}/x/../workspace/bin`])
      expect(findRipgrep(temp.root, place), place).toBeNull()
    const real = plant(join(temp.outside, "tools/rg"))
    expect(findRipgrep(temp.root, [...places, dirname(real)].join(":"))).toBe(real)
  })

  test("keeps the name it has on PATH, which may be a link to a version manager", () => {
    const program = plant(join(temp.outside, "manager"))
    mkdirSync(join(temp.outside, "shims"))
    symlinkSync(program, join(temp.outside, "shims/rg"))
    expect(findRipgrep(temp.root, join(temp.outside, "shims"))).toBe(join(temp.outside, "shims/rg"))
  })

  test("is never taken from the current directory, which an empty or relative entry of PATH means", () => {
    plant(join(temp.root, "rg"))
    const found = Bun.spawnSync(
      [
        process.execPath,
        "-e",
        `import { findRipgrep } from ${JSON.stringify(join(import.meta.dir, "../../../src/app/wiring/workspace.ts"))}
        console.log(["", ".", ":", "::/nonexistent", "./", "../../workspace"].map(path => findRipgrep("/elsewhere", path)).join())`,
      ],
      { cwd: temp.root },
    )
    expect(found.stdout.toString()).toBe(",,,,,\n")
  })

  test("that cannot be executed, or is a directory, is passed over", () => {
    plant(join(temp.outside, "plain/rg"), [], 0o644)
    mkdirSync(join(temp.outside, "directory/rg"), { recursive: true })
    const path = ["plain", "directory"].map(name => join(temp.outside, name)).join(":")
    expect(findRipgrep(temp.root, path)).toBeNull()
  })

  test("is looked for in the usual places when there is no PATH", () => {
    const found = findRipgrep(temp.root, undefined)
    expect(found === null || found.startsWith("/usr") || found.startsWith("/bin")).toBe(true)
  })
})

/** The directories of PATH are shown inside the sandbox, what they link to elsewhere is not. */
function wiringWith(path: string): Wiring {
  const environment = readEnvironment({ ...temp.environment, PATH: path })
  return new Wiring({ environment, workspace: temp.root, configFile: undefined })
}

async function searchHere(wiring: Wiring) {
  using workspace = await openWorkspace(wiring)
  return await searchIn(workspace)
}

function searchIn(workspace: Workspace) {
  return workspace.search({ pattern: "needle", path: ".", matchesMax: 9, timeoutMs: 10_000 })
}

async function openWorkspace(wiring: Wiring) {
  const { values } = await wiring.config()
  return wireWorkspace({
    directory: wiring.root.path,
    places: wiring.places,
    config: values,
    environment: wiring.request.environment,
    clock: wiring.clock,
    faults: noFaults,
    ownOutputs: ownOutputs(),
    stopping: () => null,
    unrecordedRunner: () => wiring.unrecordedRunner(),
  }).workspace
}

describe("a search", () => {
  const row = { type: "match", data: { path: { text: "./b.txt" }, lines: { text: "hay\n" }, line_number: 1 } }

  confinedTest("runs ripgrep, confined and without a record", async () => {
    plant(join(temp.outside, "tools/rg"), [JSON.stringify(row)])
    using wiring = wiringWith(`${join(temp.outside, "tools")}:/usr/bin:/bin`)
    expect(await searchHere(wiring)).toEqual({
      rows: [{ file_path: "b.txt", line_number: 1, line: "hay" }],
      truncated: false,
      engine: "ripgrep",
    })
    expect(existsSync(join(temp.root, "ran"))).toBe(true)
    expect(existsSync(wiring.places.databasePath)).toBe(false)
  })

  confinedTest("is done without ripgrep where execution.max_concurrent run and max_queued wait", async () => {
    const program = plant(join(temp.outside, "tools/rg"))
    const waits = [
      "#!/bin/sh",
      "until [ -e go ]; do sleep 0.05; done",
      `printf '%s\\n' '${JSON.stringify(row)}'`,
    ]
    writeFileSync(program, `${waits.join("\n")}\n`)
    mkdirSync(join(temp.configHome, "acode"))
    const execution = { max_concurrent: 1, max_queued: 1 }
    const text = JSON.stringify({ schema_version: "1", execution })
    writeFileSync(join(temp.configHome, "acode/config.yml"), text)
    using wiring = wiringWith(`${join(temp.outside, "tools")}:/usr/bin:/bin`)
    using workspace = await openWorkspace(wiring)
    const searches = [1, 2, 3].map(() => searchIn(workspace))
    expect(await Promise.race(searches)).toMatchObject({ engine: "own" })
    temp.write("go", "")
    const engines = (await Promise.all(searches)).map(({ engine }) => engine)
    expect(engines.toSorted()).toEqual(["own", "ripgrep", "ripgrep"])
  })

  test("never runs one that is planted in the workspace", async () => {
    plant(join(temp.root, "bin/rg"), [JSON.stringify(row)])
    using wiring = wiringWith(`${join(temp.root, "bin")}:${temp.root}:.:/nonexistent`)
    expect(await searchHere(wiring)).toMatchObject({ rows: [{ file_path: "a.txt" }], engine: "own" })
    expect(existsSync(join(temp.root, "ran"))).toBe(false)
  })

  test("does without one that the sandbox does not show", async () => {
    const program = plant(join(temp.outside, "unseen/rg"), [JSON.stringify(row)])
    mkdirSync(join(temp.outside, "tools"))
    symlinkSync(program, join(temp.outside, "tools/rg"))
    using wiring = wiringWith(`${join(temp.outside, "tools")}:/usr/bin:/bin`)
    expect(await searchHere(wiring)).toMatchObject({ rows: [{ file_path: "a.txt" }], engine: "own" })
    expect(existsSync(join(temp.root, "ran"))).toBe(false)
  })
})

describe("a program run for the workspace", () => {
  const options = (stdoutBytesMax: number) => ({ cwd: temp.root, stdoutBytesMax, timeoutMs: 10_000 })

  confinedTest("gives its bytes and its exit code", async () => {
    using wiring = wiringWith("/usr/bin:/bin")
    const run = programRunner(() => wiring.unrecordedRunner(), wiring.root.path)
    const result = await run(["/bin/sh", "-c", "printf 'a\\377b'; echo no >&2; exit 3"], options(100))
    expect(result).toEqual({ exitCode: 3, stdout: Buffer.from("a\xffb", "latin1"), truncated: false })
  })

  confinedTest("is ended when it says more than is wanted", async () => {
    using wiring = wiringWith("/usr/bin:/bin")
    const run = programRunner(() => wiring.unrecordedRunner(), wiring.root.path)
    const { stdout, truncated } = await run(["/bin/sh", "-c", "yes needle"], options(5000))
    expect([stdout.length, truncated]).toEqual([5000, true])
  })

  confinedTest("has no network and not all the time in the world", async () => {
    using wiring = wiringWith("/usr/bin:/bin")
    const run = programRunner(() => wiring.unrecordedRunner(), wiring.root.path)
    const late = await run(["/bin/sh", "-c", "echo first; sleep 60"], { ...options(100), timeoutMs: 300 })
    expect([Buffer.from(late.stdout).toString(), late.truncated]).toEqual(["first\n", true])
    const devices = await run(["/bin/cat", "/proc/net/dev"], options(10_000))
    const names =
      Buffer.from(devices.stdout)
        .toString()
        .match(/^\s*\w+(?=:)/gm) ?? []
    expect(names.map(name => name.trim())).toEqual(["lo"])
  })

  test("that cannot be started is told as having said nothing", async () => {
    using wiring = wiringWith("/usr/bin:/bin")
    const run = programRunner(() => wiring.unrecordedRunner(), wiring.root.path)
    const nothing = { exitCode: null, truncated: false }
    expect(await run(["/nonexistent/rg"], options(10))).toMatchObject(nothing)
    expect(await run(["/bin/true", "x".repeat(5_000_000)], options(10))).toMatchObject(nothing)
    expect(await run(["/bin/true\0"], options(10))).toMatchObject(nothing)
  })
})
