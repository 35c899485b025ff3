import { afterEach, beforeEach, describe, expect, test } from "bun:test"
import { existsSync, mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { Wiring } from "../../../src/app/wiring/wire.ts"
import { readEnvironment } from "../../../src/config/environment.ts"
import { Failure } from "../../../src/domain/failure.ts"
import type { OpenWorkspace } from "../../../src/workspace/workspace.ts"
import { type TempWorkspace, tempWorkspace } from "../../support/workspace/temp-workspace.ts"

let temp: TempWorkspace
let wiring: Wiring
let open: OpenWorkspace

beforeEach(async () => {
  temp = tempWorkspace({ git: true, files: { "src/a.ts": "a\n" } })
  wiring = new Wiring({
    environment: readEnvironment(temp.environment),
    workspace: temp.root,
    configFile: undefined,
  })
  open = await wiring.workspace()
})
afterEach(() => {
  wiring[Symbol.dispose]()
  temp[Symbol.dispose]()
})

function reportOf(step: () => unknown) {
  try {
    step()
    return null
  } catch (error) {
    if (error instanceof Failure) return error.report
    throw error
  }
}

const content = Buffer.from("new\n")
const paths = async () => (await open.workspace.tree()).entries.map(entry => entry.path)

describe("a protected path", () => {
  test("is refused for everything a tool could do with it", () => {
    temp.write(".env", "KEY=1\n")
    temp.write("secrets/a", "x\n")
    const { workspace } = open
    const steps: readonly (() => unknown)[] = [
      () => workspace.readLines(".env", { bytesMax: 10 }),
      () => workspace.readText("deep/../.ENV", 10),
      () => workspace.readBytes("secrets/a", 10),
      () => workspace.write({ path: ".env", content }),
      () => workspace.write({ path: "x/.ssh/authorized_keys", content }),
      () => workspace.write({ path: ".git/hooks/pre-commit", content }),
      () => workspace.write({ path: ".vscode/tasks.json", content }),
      () => workspace.write({ path: ".agent/config.yml", content }),
      () => workspace.delete([".env"]),
      () => workspace.list({ path: "secrets", depth: 1, entriesMax: 9 }),
      () => workspace.glob({ pattern: "*", path: "secrets", matchesMax: 9 }),
    ]
    for (const [index, step] of steps.entries())
      expect(reportOf(step), `step ${index}`).toMatchObject({ kind: "confinement", code: "ACODE-SEC-003" })
    expect(readFileSync(join(temp.root, ".env"), "utf8")).toBe("KEY=1\n")
    expect([existsSync(join(temp.root, "x")), existsSync(join(temp.root, ".vscode"))]).toEqual([false, false])
  })

  test("is what git would run, whatever its name: no tool makes a repository or writes what a configuration names", () => {
    temp.write(".git/config", "[core]\n\thooksPath = hooks\n[include]\n\tpath = ../more\n")
    temp.write("hooks/pre-commit", "mine\n")
    for (const name of ["HEAD", "objects/x", "refs/x"]) temp.write(`bare/${name}`, "")
    for (const name of ["objects/x", "refs/x"]) temp.write(`data/${name}`, "")
    temp.write("half/HEAD", "")
    const { workspace } = open
    const refused = [
      ...[
        "hooks/pre-commit",
        "hooks/post-checkout",
        "more",
        "bare/config",
        "bare/hooks/x",
        "data/HEAD",
        "half/commondir",
      ],
    ]
    for (const path of refused) {
      const report = reportOf(() => workspace.write({ path, content }))
      expect([path, report?.code]).toEqual([path, "ACODE-SEC-003"])
    }
    expect(reportOf(() => workspace.delete(["hooks/pre-commit"]))?.code).toBe("ACODE-SEC-003")
    expect(workspace.readLines("hooks/pre-commit", { bytesMax: 10 }).text).toBe("mine\n")
    for (const path of ["data/objects/y", "half/objects/x", "hooksmore", "data/head.txt"])
      expect([path, reportOf(() => workspace.write({ path, content }))]).toEqual([path, null])
  })

  test("is what would make the workspace itself a repository", () => {
    for (const name of ["objects/x", "refs/x"]) temp.write(name, "")
    const { workspace } = open
    expect(reportOf(() => workspace.write({ path: "HEAD", content }))?.code).toBe("ACODE-SEC-003")
    expect(reportOf(() => workspace.write({ path: "objects/y", content }))).toBeNull()
  })

  test("is refused behind a symlink, and said by its name with what to do", () => {
    temp.write(".env", "KEY=1\n")
    symlinkSync(".env", join(temp.root, "harmless"))
    const report = reportOf(() => open.workspace.readLines("harmless", { bytesMax: 10 }))
    expect(report).toMatchObject({ code: "ACODE-SEC-003", where: ".env" })
    expect(report?.message).toContain('".env" is protected (.env')
    expect(report?.hint).toContain("--writable")
  })

  test("that may be read but not written is read", () => {
    temp.write(".npmrc", "fund=false\n")
    expect(open.workspace.readLines(".npmrc", { bytesMax: 99 }).text).toBe("fund=false\n")
    expect(reportOf(() => open.workspace.delete([".npmrc"]))?.code).toBe("ACODE-SEC-003")
  })

  test("that is only asked about passes here: asking is for policy", async () => {
    open.workspace.write({ path: ".github/workflows/ci.yml", content })
    open.workspace.write({ path: "AGENTS.md", content })
    expect(await paths()).toEqual(["AGENTS.md", ".github/workflows/ci.yml", "src/a.ts"])
  })

  test("is not listed, found, searched, hashed or kept", async () => {
    const { workspace, checkpoints } = open
    for (const path of [".env", "secrets/a", "server.key", "src/token", ".npmrc", ".vscode/settings.json"])
      temp.write(path, "needle\n")
    temp.write("plain.txt", "needle\n")
    const listed = workspace.list({ path: ".", depth: 3, entriesMax: 99 }).entries.map(entry => entry.path)
    const readable = [".npmrc", ".vscode/settings.json", "plain.txt", "src/a.ts"]
    expect(listed).toEqual([
      ".git",
      ".npmrc",
      ".vscode",
      ".vscode/settings.json",
      "plain.txt",
      "src",
      "src/a.ts",
    ])
    expect(workspace.glob({ pattern: "**", path: ".", matchesMax: 99 }).paths.toSorted()).toEqual(readable)
    const found = await workspace.search({ pattern: "needle", path: ".", matchesMax: 9, timeoutMs: 5000 })
    expect(found.rows.map(row => row.file_path)).toEqual([".npmrc", ".vscode/settings.json", "plain.txt"])
    expect(await paths()).toEqual(["plain.txt", "src/a.ts"])
    await checkpoints.takeTree("c1", await workspace.tree())
    expect([...(checkpoints.load("c1")?.entries.keys() ?? [])]).toEqual(["plain.txt", "src/a.ts"])
  })
})

describe("a directory that is called like a protected file", () => {
  test("is a directory like any other", async () => {
    temp.write("src/token/lexer.ts", "needle\n")
    temp.write("fixtures/site.key/readme.md", "needle\n")
    const { workspace } = open
    expect(await paths()).toEqual(["fixtures/site.key/readme.md", "src/a.ts", "src/token/lexer.ts"])
    const listed = workspace.list({ path: "src/token", depth: 1, entriesMax: 9 })
    expect(listed.entries.map(entry => entry.path)).toEqual(["src/token/lexer.ts"])
    expect(workspace.glob({ pattern: "**/*.ts", path: ".", matchesMax: 9 }).paths).toContain(
      "src/token/lexer.ts",
    )
    const found = await workspace.search({ pattern: "needle", path: "src", matchesMax: 9, timeoutMs: 5000 })
    expect(found.rows.map(row => row.file_path)).toEqual(["src/token/lexer.ts"])
  })

  test("does not open the file of that name", async () => {
    temp.write("src/token", "secret\n")
    symlinkSync("..", join(temp.root, "src/up"))
    mkdirSync(join(temp.root, "private"))
    const { workspace } = open
    expect(reportOf(() => workspace.readLines("src/token", { bytesMax: 9 }))?.code).toBe("ACODE-SEC-003")
    expect(reportOf(() => workspace.list({ path: "private", depth: 1, entriesMax: 9 }))?.code).toBe(
      "ACODE-SEC-003",
    )
    expect(await paths()).not.toContain("src/token")
  })
})

describe("checkpoints", () => {
  test("are kept outside the workspace, for their owner alone", async () => {
    await open.checkpoints.takeFiles("c1", ["src/a.ts"])
    const directory = wiring.places.checkpointsDirectory
    expect(directory).toBe(temp.state("checkpoints"))
    expect(directory).not.toStartWith(temp.root)
    expect(statSync(directory).mode & 0o777).toBe(0o700)
  })

  test("take no more than the configuration allows", async () => {
    mkdirSync(join(temp.configHome, "acode"))
    const text = 'schema_version: "1"\ncheckpoints: { max_file_mb: 1 }\n'
    writeFileSync(join(temp.configHome, "acode/config.yml"), text)
    wiring[Symbol.dispose]()
    const environment = readEnvironment(temp.environment)
    wiring = new Wiring({ environment, workspace: temp.root, configFile: undefined })
    open = await wiring.workspace()
    temp.write("large", new Uint8Array(1024 * 1024 + 1))
    const { checkpoint, copiedFiles } = await open.checkpoints.takeFiles("c1", ["large", "src/a.ts"])
    expect(copiedFiles).toBe(1)
    expect([...checkpoint.uncovered]).toEqual([
      ["large", "it is larger than 1 MB (checkpoints.max_file_mb), so no copy was kept"],
    ])
  })
})

test("the files standard output and error go to are not part of the tree", async () => {
  const script = `
    import { readEnvironment } from ${JSON.stringify(join(import.meta.dir, "../../../src/config/environment.ts"))}
    import { Wiring } from ${JSON.stringify(join(import.meta.dir, "../../../src/app/wiring/wire.ts"))}
    const wiring = new Wiring({ environment: readEnvironment(), workspace: ".", configFile: undefined })
    const { workspace } = await wiring.workspace()
    console.log(JSON.stringify((await workspace.tree()).entries.map(entry => entry.path)))`
  const shell = ["sh", "-c", `exec "$0" -e "$1" >out.log 2>err.log`, process.execPath, script]
  Bun.spawnSync(shell, { cwd: temp.root, env: { ...temp.environment } })
  expect([
    readFileSync(join(temp.root, "out.log"), "utf8"),
    readFileSync(join(temp.root, "err.log"), "utf8"),
  ]).toEqual(['["src/a.ts"]\n', ""])
})
