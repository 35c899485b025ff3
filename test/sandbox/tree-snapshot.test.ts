import { afterEach, beforeEach, describe, expect, test } from "bun:test"
import { chmodSync, symlinkSync } from "node:fs"
import { join } from "node:path"
import type { TreeRules } from "../../src/sandbox/tree-rules.ts"
import { takeSnapshot } from "../../src/sandbox/tree-snapshot.ts"
import { testWhere } from "../support/requirement.ts"
import { openRoom, type Room, testProtection } from "./room.ts"

if (process.geteuid?.() === 0) process.stderr.write("skipped: root can look into every directory\n")

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

  test("does not go into repositories, state, hidden and dependency directories", async () => {
    room.write(".git/secrets/x", "x")
    room.write("secrets/a/b", "x")
    room.write("node_modules/p/.env", "x")
    room.write("src/index.ts", "x")
    expect(await directories()).toEqual(["", "src"])
    expect(await entries()).toEqual([".git noWrite directory", "secrets hidden directory"])
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
