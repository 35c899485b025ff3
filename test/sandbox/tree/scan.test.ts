import { afterEach, beforeEach, describe, expect, test } from "bun:test"
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs"
import { join } from "node:path"
import { moveToQuarantine } from "../../../src/sandbox/tree/quarantine.ts"
import { beforeOf, clearSetId, findAppeared } from "../../../src/sandbox/tree/scan.ts"
import type { TreeRules } from "../../../src/sandbox/tree/tree-rules.ts"
import { takeSnapshot, withNamed } from "../../../src/sandbox/tree/tree-snapshot.ts"
import { eventually } from "../../support/eventually.ts"
import { testWhere } from "../../support/requirement.ts"
import { openRoom, type Room, testProtection } from "../room.ts"

if (process.geteuid?.() === 0) process.stderr.write("skipped: root can look into every directory\n")
let room: Room
beforeEach(() => {
  room = openRoom()
})
afterEach(() => room.remove())

const at = (path: string) => join(room.root, path)
const rules = (changes: Partial<TreeRules> = {}): TreeRules => ({
  root: room.root,
  protection: testProtection,
  lifted: [],
  excluded: [join(room.root, ".agent")],
  dependencyDirectories: ["node_modules"],
  named: [],
  ...changes,
})

/** What a scan finds after `change`. */
async function appearedAfter(
  change: () => void,
  changes: Partial<TreeRules> = {},
): Promise<readonly string[]> {
  const all = rules(changes)
  const before = beforeOf(withNamed(await takeSnapshot(all, Date.now()), all))
  change()
  const appeared = await findAppeared(rules(changes), before)
  appeared.restore()
  return appeared.names
}

/** Until a file gets another time than the one given: the file system's clock is coarse. */
async function untilClockTicks(changedMs: number): Promise<void> {
  const tick = join(room.base, "tick")
  const hasTicked = () => {
    writeFileSync(tick, "")
    return lstatSync(tick).ctimeMs > changedMs
  }
  await eventually("the clock ticks", hasTicked, { everyMs: 1 })
}

describe("a scan after a command", () => {
  test("finds nothing where nothing changed", async () => {
    room.write("a/.git/config", "x")
    room.write("b/key.pem", "x")
    expect(await appearedAfter(() => undefined)).toEqual([])
  })

  test("finds a protected name in a directory that was there", async () => {
    room.write("a/b/c.ts")
    expect(await appearedAfter(() => room.write("a/b/.env"))).toEqual(["a/b/.env"])
  })

  test("finds one that came with a directory, new or moved from elsewhere", async () => {
    room.write("a/b/c.ts")
    mkdirSync(join(room.base, "outside/x/.git"), { recursive: true })
    const found = await appearedAfter(() => {
      room.write("new/deep/.npmrc")
      renameSync(join(room.base, "outside"), at("a/moved"))
    })
    expect(found).toEqual(["a/moved/x/.git", "new/deep/.npmrc"])
  })

  test("finds one that took the place of another", async () => {
    room.write("a/.npmrc", "old")
    const found = await appearedAfter(() => {
      room.write("a/other", "new")
      renameSync(at("a/other"), at("a/.npmrc"))
    })
    expect(found).toEqual(["a/.npmrc"])
  })

  test("finds one below a directory that took the place of another", async () => {
    room.write("a/b/c.ts")
    const found = await appearedAfter(() => {
      renameSync(at("a"), at("gone"))
      room.write("a/b/.env")
    })
    expect(found).toEqual(["a/b/.env"])
  })

  test("is not misled by a directory whose modification time was set back", async () => {
    room.write("a/file")
    const old = lstatSync(at("a"))
    // As if the snapshot were taken long after the directory was made, so that its times are believed.
    const before = beforeOf(await takeSnapshot(rules(), Date.now() + 3_600_000))
    await untilClockTicks(old.ctimeMs)
    room.write("a/.env")
    utimesSync(at("a"), old.atime, old.mtime)
    expect((await findAppeared(rules(), before)).names).toEqual(["a/.env"])
  })

  test("sees a change in the same tick of the clock as the snapshot", async () => {
    room.write("a/file")
    const before = beforeOf(await takeSnapshot(rules(), Date.now()))
    room.write("a/.env")
    expect((await findAppeared(rules(), before)).names).toEqual(["a/.env"])
  })

  test("does not follow links and does not mind pipes", async () => {
    room.write("real/file")
    const found = await appearedAfter(() => {
      symlinkSync("real", at("link"))
      symlinkSync("/", at("real/root"))
      symlinkSync("loop", at("loop"))
      room.write("real/.env")
    })
    expect(found).toEqual(["real/.env"])
  })

  test("leaves out what a person opened and what package managers write", async () => {
    const lifted = [at("open"), at("top/.git")]
    const found = await appearedAfter(
      () => {
        room.write("open/.git/config")
        room.write("top/.git/config")
        room.write("top/.env")
        room.write("node_modules/p/.npmrc")
        room.write("packages/a/node_modules/p/.npmrc")
        room.write("node_modules/p/secrets/.env")
      },
      { lifted },
    )
    expect(found).toEqual(["top/.env"])
  })

  test("finds repositories in dependency directories, and those that changed", async () => {
    for (const name of ["old", "changed", "armed", "gone"])
      room.write(`node_modules/${name}/.git/config`, "x")
    room.write("node_modules/armed/.git/hooks/pre-commit.sample")
    const found = await appearedAfter(() => {
      room.write("node_modules/old/.git/index", "what git itself writes")
      room.write("node_modules/old/index.js")
      rmSync(at("node_modules/changed/.git/config"))
      room.write("node_modules/changed/.git/config", "other")
      room.write("node_modules/armed/.git/hooks/pre-commit")
      rmSync(at("node_modules/gone"), { recursive: true })
      room.write("packages/a/.venv/node_modules/new/.git", "gitdir: elsewhere")
    })
    expect(found).toEqual([
      "node_modules/armed/.git",
      "node_modules/changed/.git",
      "packages/a/.venv/node_modules/new/.git",
    ])
  })

  test("finds directories that are repositories by what they hold", async () => {
    room.write("assets/refs/mine", "a person's")
    room.write("assets/picture", "a person's")
    await untilClockTicks(lstatSync(at("assets/refs")).ctimeMs + 60)
    const found = await appearedAfter(() => {
      for (const name of ["HEAD", "config", "objects/x", "refs/x"]) room.write(`made/${name}`)
      room.write("linked/HEAD")
      symlinkSync("../made", at("linked/commondir"))
      for (const name of ["HEAD", "config", "hooks/pre-commit", "objects/x"]) room.write(`assets/${name}`)
      for (const name of ["HEAD", "objects/x", "refs/x", "readme"]) room.write(`mixed/${name}`)
      for (const name of ["HEAD", "objects/x", "heads/x"]) room.write(`harmless/${name}`)
    })
    expect(found).toEqual([
      ...["assets/HEAD", "assets/config", "assets/hooks", "assets/objects"],
      ...["linked", "made", "mixed/HEAD", "mixed/objects", "mixed/refs"],
    ])
  })

  test("finds what makes the workspace itself a repository, and leaves one that it was before", async () => {
    room.write("objects/mine", "a person's")
    await untilClockTicks(lstatSync(at("objects")).ctimeMs + 60)
    const make = () => {
      for (const name of ["HEAD", "config", "hooks/pre-commit", "refs/x", "readme"]) room.write(name)
    }
    expect(await appearedAfter(make)).toEqual(["HEAD", "config", "hooks", "refs"])
    const named = ["HEAD", "config", "objects", "refs", "hooks"]
    expect(await appearedAfter(() => room.write("objects/pack/x"), { named })).toEqual([])
  })

  test("leaves a person's file that is a moment older than the rest of a repository", async () => {
    room.write("docs/HEAD", "a person's")
    await untilClockTicks(lstatSync(at("docs/HEAD")).ctimeMs + 15)
    const found = await appearedAfter(() => {
      for (const name of ["objects/x", "refs/x"]) room.write(`docs/${name}`)
    })
    expect(found).toEqual(["docs/objects", "docs/refs"])
  })

  test("leaves it as well where the acode that ran the command is dead and nothing is known of the directory", async () => {
    room.write("docs/HEAD", "a person's")
    await untilClockTicks(lstatSync(at("docs/HEAD")).ctimeMs + 15)
    const takenAtMs = Date.now()
    for (const name of ["objects/x", "refs/x"]) room.write(`docs/${name}`)
    const known = {
      directories: new Map(),
      packaged: new Map(),
      hadName: () => false,
      isWhole: true,
    } as const
    const appeared = await findAppeared(rules(), { takenAtMs, ...known })
    expect(appeared.names).toEqual(["docs/objects", "docs/refs"])
  })

  test("finds what git was told of, and links on the way there", async () => {
    room.write("tools/hooks/pre-commit", "a person's")
    room.write("kept/config")
    symlinkSync("kept", at("way"))
    await untilClockTicks(lstatSync(at("way")).ctimeMs + 60)
    const named = ["tools/hooks", "new/hooks", "later/hooks", "way/config"]
    const found = await appearedAfter(
      () => {
        room.write("tools/other")
        room.write("new/hooks/pre-commit")
        symlinkSync("tools", at("later"))
      },
      { named },
    )
    expect(found).toEqual(["later", "new/hooks"])
  })

  test("names what is not UTF-8 exactly, and quarantine takes exactly that", async () => {
    const odd = (name: string) => Buffer.from(`${room.root}/${name}`, "latin1")
    mkdirSync(odd("d\xff"))
    const found = await appearedAfter(() => {
      mkdirSync(odd("d\xff/e\xfe/.git"), { recursive: true })
      writeFileSync(odd("d\xff/\xc3"), "")
    })
    expect(found).toEqual(["d\udcff/e\udcfe/.git"])
    const quarantine = join(room.base, "quarantine")
    expect(moveToQuarantine(room.root, found, quarantine)).toEqual({ moved: found, left: [] })
    expect(existsSync(Buffer.from(`${quarantine}/d\xff/e\xfe/.git`, "latin1"))).toBe(true)
    expect(existsSync(odd("d\xff/\xc3"))).toBe(true)
  })

  test("finds files that got a set-user-id bit, and takes it from them only", async () => {
    room.write("before")
    chmodSync(at("before"), 0o4755)
    await untilClockTicks(lstatSync(at("before")).ctimeMs + 60)
    const before = beforeOf(await takeSnapshot(rules(), Date.now()))
    for (const [name, mode] of [
      ["user", 0o4711],
      ["group", 0o2755],
      ["plain", 0o755],
    ] as const) {
      room.write(`new/${name}`)
      chmodSync(at(`new/${name}`), mode)
    }
    room.write("after")
    mkdirSync(at("shared"))
    chmodSync(at("shared"), 0o2775)
    const { setId } = await findAppeared(rules(), before)
    expect([...setId].sort()).toEqual(["new/group", "new/user"])
    for (const path of setId) clearSetId(at(path))
    const modes = ["before", "new/user", "new/group", "shared"].map(path => lstatSync(at(path)).mode & 0o7777)
    expect(modes).toEqual([0o4755, 0o711, 0o755, 0o2775])
    symlinkSync(at("before"), at("link"))
    clearSetId(at("link"))
    expect(lstatSync(at("before")).mode & 0o7777).toBe(0o4755)
  })

  test("finds what is hidden in a renamed dependency directory", async () => {
    room.write("node_modules/p/.git/config")
    expect(await appearedAfter(() => renameSync(at("node_modules"), at("lib")))).toEqual(["lib/p/.git"])
  })

  test("reports only the topmost of nested protected names", async () => {
    const found = await appearedAfter(() => {
      room.write("x/.vscode/secrets/key.pem")
      room.write("x/secrets/.env")
    })
    expect(found).toEqual(["x/.vscode", "x/secrets"])
  })

  testWhere(process.geteuid?.() === 0 ? "root may look everywhere" : null)(
    "opens new directories that were closed, and closes them again",
    async () => {
      const before = beforeOf(await takeSnapshot(rules(), Date.now()))
      room.write("shut/in/.env")
      chmodSync(at("shut/in"), 0o000)
      chmodSync(at("shut"), 0o000)
      const appeared = await findAppeared(rules(), before)
      expect(appeared.names).toEqual(["shut/in/.env"])
      appeared.restore()
      expect(lstatSync(at("shut")).mode & 0o777).toBe(0)
      chmodSync(at("shut"), 0o700)
      expect(lstatSync(at("shut/in")).mode & 0o777).toBe(0)
      chmodSync(at("shut/in"), 0o700)
    },
  )

  test("goes through many new entries", async () => {
    const before = beforeOf(await takeSnapshot(rules(), Date.now()))
    for (let directory = 0; directory < 10; directory++) {
      mkdirSync(at(`many/d${directory}`), { recursive: true })
      for (let file = 0; file < 60; file++) writeFileSync(at(`many/d${directory}/f${file}`), "")
    }
    room.write("many/d7/.env")
    expect((await findAppeared(rules(), before)).names).toEqual(["many/d7/.env"])
  })
})

describe("quarantine", () => {
  const quarantine = () => join(room.root, ".agent/quarantine/x")

  test("keeps what it takes under its old path", () => {
    room.write("a/.git/config", "content")
    room.write(".env", "secret")
    expect(moveToQuarantine(room.root, ["a/.git", ".env"], quarantine())).toEqual({
      moved: ["a/.git", ".env"],
      left: [],
    })
    expect(readFileSync(join(quarantine(), "a/.git/config"), "utf8")).toBe("content")
    expect(existsSync(at("a/.git"))).toBe(false)
    expect(lstatSync(quarantine()).mode & 0o777).toBe(0o700)
  })

  test("says what it could not take", () => {
    room.write(".env", "secret")
    expect(moveToQuarantine(room.root, ["gone/.env", ".env", "also-gone"], quarantine())).toEqual({
      moved: [".env"],
      left: ["gone/.env", "also-gone"],
    })
  })

  test("does not go through a parent that became a link", () => {
    const victim = join(room.base, "victim")
    mkdirSync(join(victim, ".git"), { recursive: true })
    room.write("sub/.git/config")
    rmSync(at("sub"), { recursive: true })
    symlinkSync(victim, at("sub"))
    expect(moveToQuarantine(room.root, ["sub/.git"], quarantine()).left).toEqual(["sub/.git"])
    expect(existsSync(join(victim, ".git"))).toBe(true)
  })

  test("takes directories their owner may not write", () => {
    room.write("a/.git/config", "content")
    chmodSync(at("a/.git"), 0o500)
    expect(moveToQuarantine(room.root, ["a/.git"], quarantine()).moved).toEqual(["a/.git"])
    chmodSync(join(quarantine(), "a/.git"), 0o700)
  })

  test("does not overwrite what is already in its place", () => {
    room.write("a/.git/config", "second")
    mkdirSync(join(quarantine(), "a/.git/first"), { recursive: true })
    expect(moveToQuarantine(room.root, ["a/.git"], quarantine()).left).toEqual(["a/.git"])
    expect(existsSync(at("a/.git/config"))).toBe(true)
  })
})
