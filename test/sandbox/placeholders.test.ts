import { afterEach, beforeEach, describe, expect, test } from "bun:test"
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { spawn } from "../../src/base/spawn.ts"
import { holdPlaceholders, isPlaceholder, type PlaceholderPlace } from "../../src/sandbox/placeholders.ts"
import { openRoom, type Room } from "./room.ts"

let room: Room
let place: PlaceholderPlace
beforeEach(() => {
  room = openRoom()
  place = { root: room.root, directory: join(room.root, ".agent/placeholders"), bootId: "this boot" }
  mkdirSync(place.directory)
})
afterEach(() => room.remove())

const names = () => readdirSync(room.root).sort()
const records = () => readdirSync(place.directory).filter(name => name.endsWith(".json"))

/** An acode that makes placeholders and is killed before it can remove them. */
async function leaveBehind(wanted: readonly string[]): Promise<void> {
  const source = join(import.meta.dir, "../../src/sandbox/placeholders.ts")
  const script = `
    const { holdPlaceholders } = await import(${JSON.stringify(source)})
    await holdPlaceholders(${JSON.stringify(place)}, ${JSON.stringify(wanted)})
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
}

describe("placeholders", () => {
  test("stand for what is missing and go when they are released", async () => {
    room.write(".vscode/settings.json", "mine")
    const held = await holdPlaceholders(place, [".git", ".vscode"])
    expect(names()).toEqual([".agent", ".git", ".vscode"])
    expect(isPlaceholder(place, ".git")).toBe(true)
    expect(isPlaceholder(place, ".vscode")).toBe(false)
    await held.release()
    expect(names()).toEqual([".agent", ".vscode"])
    expect(records()).toEqual([])
  })

  test("write nothing at all when nothing is missing", async () => {
    mkdirSync(join(room.root, ".git"))
    const held = await holdPlaceholders(place, [".git"])
    expect(records()).toEqual([])
    await held.release()
    expect(existsSync(join(room.root, ".git"))).toBe(true)
  })

  test("stay when somebody put something in them in the meantime", async () => {
    const held = await holdPlaceholders(place, [".git", ".idea"])
    room.write(".git/HEAD", "ref: refs/heads/main")
    await held.release()
    expect(names()).toEqual([".agent", ".git"])
  })

  test("stay when somebody put another directory in their place", async () => {
    const held = await holdPlaceholders(place, [".git"])
    const record = join(place.directory, records()[0] ?? "")
    const [owner = "", inodes = ""] = readFileSync(record, "utf8").split("\n")
    writeFileSync(record, `${owner}\n${inodes.replace(/\d+/, "1")}`)
    await held.release()
    expect(names()).toEqual([".agent", ".git"])
  })

  test("are shared, and the last one to leave removes them", async () => {
    const first = await holdPlaceholders(place, [".git"])
    const second = await holdPlaceholders(place, [".git", ".idea"])
    await first.release()
    expect(names()).toEqual([".agent", ".git", ".idea"])
    await second.release()
    expect(names()).toEqual([".agent"])
  })

  test("are removed exactly once when many come and go at the same time", async () => {
    const one = async () => {
      const held = await holdPlaceholders(place, [".git", ".idea"])
      expect(existsSync(join(room.root, ".git"))).toBe(true)
      await Bun.sleep(0)
      expect(existsSync(join(room.root, ".git"))).toBe(true)
      await held.release()
    }
    await Promise.all(Array.from({ length: 30 }, one))
    expect(names()).toEqual([".agent"])
    expect(records()).toEqual([])
  })

  test("releasing twice is fine", async () => {
    const held = await holdPlaceholders(place, [".git"])
    await held.release()
    await held.release()
    expect(names()).toEqual([".agent"])
  })
})

describe("what a killed acode left behind", () => {
  test("is removed by the next one", async () => {
    await leaveBehind([".git", ".idea"])
    expect(names()).toEqual([".agent", ".git", ".idea"])
    const held = await holdPlaceholders(place, [])
    expect(names()).toEqual([".agent"])
    expect(records()).toEqual([])
    await held.release()
  })

  test("is kept where it is in use or has been filled", async () => {
    await leaveBehind([".git", ".idea", ".claude"])
    room.write(".idea/workspace.xml", "mine")
    const held = await holdPlaceholders(place, [".git"])
    expect(names()).toEqual([".agent", ".git", ".idea"])
    await held.release()
    expect(names()).toEqual([".agent", ".idea"])
  })

  test("is removed when the kill came before the inodes were written down", async () => {
    await leaveBehind([".git"])
    const record = join(place.directory, records()[0] ?? "")
    const [owner = ""] = readFileSync(record, "utf8").split("\n")
    for (const torn of [`${owner}\n`, `${owner}\n{".gi`, owner]) {
      mkdirSync(join(room.root, ".git"), { recursive: true })
      writeFileSync(record, torn)
      await (await holdPlaceholders(place, [])).release()
      expect(names()).toEqual([".agent"])
    }
  })

  test("is told from the living by boot and start time, not by the number alone", async () => {
    const held = await holdPlaceholders(place, [".git"])
    const elsewhen = { ...place, bootId: "an earlier boot" }
    await (await holdPlaceholders(elsewhen, [])).release()
    expect(names()).toEqual([".agent"])
    await held.release()
  })
})
