import { afterEach, beforeEach, describe, expect, test } from "bun:test"
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  renameSync,
  symlinkSync,
  writeFileSync,
} from "node:fs"
import { join } from "node:path"
import { spawn } from "../../../src/base/spawn.ts"
import { holdPlaceholders, isPlaceholder } from "../../../src/sandbox/tree/placeholders.ts"
import { openRoom, type Room } from "../room.ts"

let room: Room
beforeEach(() => {
  room = openRoom()
})
afterEach(() => room.remove())

const at = (name: string) => join(room.root, name)
const names = () => readdirSync(room.root).sort()
const hold = (...wanted: readonly string[]) => holdPlaceholders(room.root, wanted, [])

/** An acode that makes placeholders and is killed before it can remove them. */
async function leaveBehind(...wanted: readonly string[]): Promise<void> {
  const source = join(import.meta.dir, "../../../src/sandbox/tree/placeholders.ts")
  const script = `
    const { holdPlaceholders } = await import(${JSON.stringify(source)})
    await holdPlaceholders(${JSON.stringify(room.root)}, ${JSON.stringify(wanted)}, [])
    process.kill(process.pid, "SIGKILL")`
  const child = spawn({
    argv: [process.execPath, "-e", script],
    env: { PATH: "/usr/bin:/bin" },
    cwd: room.root,
    stdin: "null",
    stdout: "null",
    stderr: "null",
    extra: [],
  })
  expect(await child.exited).toEqual({ exitCode: null, signal: "SIGKILL" })
  child.close()
}

describe("placeholders", () => {
  test("stand for what is missing and go when they are released", async () => {
    room.write(".vscode/settings.json", "mine")
    const held = await hold(".git", ".vscode")
    expect(names()).toEqual([".agent", ".git", ".vscode"])
    expect([isPlaceholder(at(".git")), isPlaceholder(at(".vscode")), isPlaceholder(at(".idea"))]).toEqual([
      true,
      false,
      false,
    ])
    held.release()
    expect(names()).toEqual([".agent", ".vscode"])
  })

  test("leave alone what is there, whatever it is", async () => {
    mkdirSync(at(".git"))
    writeFileSync(at(".vscode"), "a file")
    symlinkSync("nowhere", at(".idea"))
    mkdirSync(at(".claude"), { mode: 0o700 })
    const held = await hold(".git", ".vscode", ".idea", ".claude")
    for (const name of [".git", ".vscode", ".idea", ".claude"]) expect(isPlaceholder(at(name))).toBe(false)
    held.release()
    expect(names()).toEqual([".agent", ".claude", ".git", ".idea", ".vscode"])
  })

  test("become ordinary directories when somebody puts something in them", async () => {
    const held = await hold(".git", ".idea")
    room.write(".git/HEAD", "ref: refs/heads/main")
    held.release()
    expect(names()).toEqual([".agent", ".git"])
    expect(lstatSync(at(".git")).mode & 0o7777).toBe(0o755)
  })

  test("do not take away what somebody put in their place", async () => {
    const held = await hold(".git")
    renameSync(at(".git"), at("moved"))
    mkdirSync(at(".git"))
    held.release()
    expect(existsSync(at(".git"))).toBe(true)
  })

  test("are shared, and the last one to leave removes them", async () => {
    const first = await hold(".git")
    const second = await hold(".git", ".idea")
    const inode = lstatSync(at(".git")).ino
    first.release()
    expect(lstatSync(at(".git")).ino).toBe(inode)
    second.release()
    expect(names()).toEqual([".agent"])
  })

  test("are there for everybody who holds them, however many come and go", async () => {
    const one = async () => {
      for (let round = 0; round < 10; round++) {
        const held = await hold(".git", ".idea")
        expect(isPlaceholder(at(".git"))).toBe(true)
        await Bun.sleep(0) // lets the others have their turn
        expect(isPlaceholder(at(".git"))).toBe(true)
        held.release()
      }
    }
    await Promise.all(Array.from({ length: 8 }, one))
    expect(names()).toEqual([".agent"])
  })

  test("can be released twice, and leave no descriptor open", async () => {
    const before = readdirSync("/proc/self/fd").length
    for (let round = 0; round < 5; round++) {
      const held = await hold(".git", ".idea")
      held.release()
      held.release()
    }
    expect(readdirSync("/proc/self/fd").length).toBe(before)
  })
})

describe("what a killed acode left behind", () => {
  test("is taken over by the next command and removed with it", async () => {
    await leaveBehind(".git", ".idea")
    expect(names()).toEqual([".agent", ".git", ".idea"])
    const held = await hold(".git", ".idea")
    held.release()
    expect(names()).toEqual([".agent"])
  })

  test("is out of the way before a command that a person opened it for", async () => {
    await leaveBehind(".git", ".idea")
    const held = await holdPlaceholders(room.root, [".idea"], [".git"])
    expect(names()).toEqual([".agent", ".idea"])
    held.release()
    expect(names()).toEqual([".agent"])
  })

  test("is kept while another acode uses it", async () => {
    await leaveBehind(".git")
    const other = await hold(".git")
    const held = await holdPlaceholders(room.root, [], [".git"])
    held.release()
    expect(isPlaceholder(at(".git"))).toBe(true)
    other.release()
    expect(names()).toEqual([".agent"])
  })

  test("is somebody's own as soon as there is something in it", async () => {
    await leaveBehind(".idea")
    room.write(".idea/workspace.xml", "mine")
    const held = await hold(".idea")
    held.release()
    expect(existsSync(at(".idea/workspace.xml"))).toBe(true)
  })
})
