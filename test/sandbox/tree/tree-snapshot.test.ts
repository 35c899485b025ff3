import { afterEach, beforeEach, describe, expect, test } from "bun:test"
import { chmodSync, lstatSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import type { TreeRules } from "../../../src/sandbox/tree/tree-rules.ts"
import { takeSnapshot } from "../../../src/sandbox/tree/tree-snapshot.ts"
import { eventually } from "../../support/eventually.ts"
import { testWhere } from "../../support/requirement.ts"
import { openRoom, type Room, testProtection } from "../room.ts"

if (process.geteuid?.() === 0) process.stderr.write("skipped: root can look into every directory\n")

/** Until a directory has another time than the one given: the file system's clock is coarse. */
async function untilChanged(directory: string, changedMs: number): Promise<void> {
  const hasChanged = () => {
    writeFileSync(join(directory, "tick"), "")
    rmSync(join(directory, "tick"))
    return lstatSync(directory).ctimeMs > changedMs
  }
  await eventually("the clock ticks", hasChanged, { everyMs: 1 })
}

describe("a snapshot of a workspace", () => {
  let room: Room
  beforeEach(() => {
    room = openRoom()
  })
  afterEach(() => room.remove())

  const rules = (changes: Partial<TreeRules> = {}): TreeRules => ({
    root: room.root,
    protection: testProtection,
    lifted: [],
    excluded: [join(room.root, ".agent")],
    dependencyDirectories: ["node_modules"],
    named: [],
    ...changes,
  })
  const entries = async (changes: Partial<TreeRules> = {}) => {
    const { protectedEntries } = await takeSnapshot(rules(changes), 0)
    return [...protectedEntries.values()]
      .map(({ path, level, stamp }) => `${path} ${level} ${stamp.kind}`)
      .sort()
  }
  const directories = async (changes: Partial<TreeRules> = {}) =>
    [...(await takeSnapshot(rules(changes), 0)).directories.keys()].sort()

  test("finds protected names at any depth, with what they are", async () => {
    room.write(".env", "x")
    room.write("a/b/c/key.pem", "x")
    room.write("a/.git/HEAD", "x")
    room.write("a/secrets/x/y", "x")
    symlinkSync("nowhere", join(room.root, "a/.npmrc"))
    expect(await entries()).toEqual([
      ".env hidden file",
      "a/.git noWrite directory",
      "a/.npmrc noWrite link",
      "a/b/c/key.pem hidden file",
      "a/secrets hidden directory",
    ])
  })

  test("looks into read-only directories only for what must not be read", async () => {
    room.write(".vscode/settings.json", "x")
    room.write(".vscode/deep/other.json", "x")
    room.write(".vscode/deep/key.pem", "x")
    expect(await entries()).toEqual([".vscode noWrite directory", ".vscode/deep/key.pem hidden file"])
  })

  test("does not go into repositories, state and hidden directories", async () => {
    room.write(".git/secrets/x", "x")
    room.write("secrets/a/b", "x")
    room.write("src/index.ts", "x")
    expect(await directories()).toEqual(["", "src"])
    expect(await entries()).toEqual([".git noWrite directory", "secrets hidden directory"])
  })

  test("finds in dependency directories repositories only, and leaves those replaceable", async () => {
    room.write("node_modules/p/.env", "x")
    room.write("node_modules/p/.git/config", "x")
    for (const name of ["HEAD", "objects/x", "refs/x"]) room.write(`node_modules/fixture.git/${name}`, "x")
    expect(await entries()).toEqual([])
    const { packaged } = await takeSnapshot(rules(), 0)
    expect([...packaged.keys()].sort()).toEqual(["node_modules/fixture.git", "node_modules/p/.git"])
  })

  test("takes for a repository what git takes for one, whatever its name is", async () => {
    for (const name of ["HEAD", "objects/x", "refs/x"]) room.write(`whole/${name}`, "x")
    for (const name of ["HEAD", "commondir"]) room.write(`linked/${name}`, "x")
    for (const name of ["HEAD/x", "objects/x", "refs/x"]) room.write(`directory/${name}`, "x")
    for (const name of ["objects/x", "refs/x"]) room.write(`headless/${name}`, "x")
    room.write("whole/deep/.env", "x")
    expect(await entries()).toEqual([
      "linked noWrite directory",
      "whole noWrite directory",
      "whole/deep/.env hidden file",
    ])
  })

  test("knows names that are not UTF-8, exactly", async () => {
    const odd = (name: string) => Buffer.from(`${room.root}/${name}`, "latin1")
    mkdirSync(odd("d\xff/.git"), { recursive: true })
    mkdirSync(odd("d\xfe"))
    expect(await entries()).toEqual(["d\udcff/.git noWrite directory"])
    expect(await directories()).toEqual(["", "d\udcfe", "d\udcff"])
  })

  test("lists a directory again only where it changed", async () => {
    room.write("a/b/key.pem", "x")
    room.write("a/c/x", "x")
    const known = new Map()
    const later = Date.now() + 3_600_000
    const names = async () => [...(await takeSnapshot(rules(), later, known)).protectedEntries.keys()].sort()
    expect(await names()).toEqual(["a/b/key.pem"])
    const listed = known.get("a/c")
    room.write("a/b/.env", "x")
    await untilChanged(join(room.root, "a/b"), known.get("a/b").stamp.changedMs)
    expect(await names()).toEqual(["a/b/.env", "a/b/key.pem"])
    expect(known.get("a/c")).toBe(listed)
  })

  test("goes into dependency directories where nothing says not to", async () => {
    room.write("node_modules/p/.env", "x")
    expect(await entries({ dependencyDirectories: [] })).toEqual(["node_modules/p/.env hidden file"])
  })

  test("leaves out what a person opened, and what is below it", async () => {
    room.write("open/.env", "x")
    room.write("open/.git/config", "x")
    room.write("shut/.env", "x")
    expect(await entries({ lifted: [join(room.root, "open")] })).toEqual(["shut/.env hidden file"])
  })

  test("never follows a link to a directory", async () => {
    room.write("real/.env", "x")
    symlinkSync("..", join(room.root, "real/up"))
    symlinkSync("/etc", join(room.root, "system"))
    expect(await directories()).toEqual(["", "real"])
  })

  testWhere(process.geteuid?.() === 0 ? "root may look everywhere" : null)(
    "hides a directory it may not look into",
    async () => {
      room.write("closed/.env", "x")
      room.write("listed/.env", "x")
      chmodSync(join(room.root, "closed"), 0o000)
      chmodSync(join(room.root, "listed"), 0o400)
      expect(await entries()).toEqual(["closed hidden directory", "listed hidden directory"])
      for (const name of ["closed", "listed"]) chmodSync(join(room.root, name), 0o700)
    },
  )

  test("takes a tree of many directories without holding everything else up", async () => {
    for (let index = 0; index < 550; index++) room.write(`d${index % 50}/e${index}/f`)
    let othersRan = false
    setImmediate(() => {
      othersRan = true
    })
    const found = await directories()
    expect(found).toHaveLength(1 + 50 + 550)
    expect(othersRan).toBe(true)
  }, 20_000)
})
