import { afterEach, beforeEach, describe, expect, test } from "bun:test"
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs"
import { tmpdir } from "node:os"
import { basename, join } from "node:path"
import {
  assertStateOutside,
  ensureAgentDirectory,
  type StatePlaces,
  statePlaces,
} from "../../../src/app/state/state-directory.ts"
import { Failure } from "../../../src/domain/failure.ts"

let base: string
let agent: string

beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), "acode-state-")))
  agent = join(base, ".agent")
})
afterEach(() => rmSync(base, { recursive: true }))

function codeOf(work: () => void): string {
  try {
    work()
    return "accepted"
  } catch (error) {
    if (error instanceof Failure) return error.report.code
    throw error
  }
}

describe("the directory for what people write", () => {
  test("is made, and nothing in it", () => {
    ensureAgentDirectory(agent)
    ensureAgentDirectory(agent)
    expect(readdirSync(agent)).toEqual([])
  })

  test("is closed to other writers when it was open to them", () => {
    mkdirSync(agent, { mode: 0o777 })
    Bun.spawnSync(["chmod", "777", agent])
    ensureAgentDirectory(agent)
    expect(statSync(agent).mode & 0o022).toBe(0)
  })

  test("is refused when a symlink stands there, and nothing is written through it", () => {
    const elsewhere = join(base, "elsewhere")
    mkdirSync(elsewhere)
    symlinkSync(elsewhere, agent)
    expect(codeOf(() => ensureAgentDirectory(agent))).toBe("ACODE-SEC-006")
    expect(readdirSync(elsewhere)).toEqual([])
  })

  test("is refused when a file or a dangling link stands there", () => {
    writeFileSync(agent, "x")
    expect(codeOf(() => ensureAgentDirectory(agent))).toBe("ACODE-SEC-006")
    rmSync(agent)
    symlinkSync("/nowhere/at/all", agent)
    expect(codeOf(() => ensureAgentDirectory(agent))).toBe("ACODE-SEC-006")
  })

  test("that cannot be made is a failure with a code", () => {
    expect(codeOf(() => ensureAgentDirectory(join(base, "missing/.agent")))).toBe("ACODE-CFG-001")
  })
})

describe("the state of a workspace", () => {
  const at = (root: string, stateDirectory: string | null = null): StatePlaces =>
    statePlaces(root, {
      xdgDataHome: join(base, "data"),
      xdgStateHome: join(base, "state"),
      stateDirectory,
    })
  const kept = (root: string, stateDirectory: string | null = null) =>
    assertStateOutside(at(root, stateDirectory), root)
  const made = (name: string) => {
    mkdirSync(join(base, name), { recursive: true })
    return join(base, name)
  }

  test("lies outside of it, all of it, below one directory that is named like the workspace", () => {
    const places = at(made("work/my repo"))
    const { agentDirectory, ...state } = places
    expect(agentDirectory).toBe(join(base, "work/my repo/.agent"))
    for (const path of Object.values(state)) expect(path).not.toStartWith(join(base, "work"))
    expect(basename(places.stateDirectory)).toMatch(/^my-repo-[0-9a-f]{16}$/)
    expect(places.databasePath).toBe(join(places.stateDirectory, "workspace.db"))
    expect(at(made("work/my repo"), join(base, "own")).stateDirectory).toStartWith(
      join(base, "own/workspaces/"),
    )
  })

  test("belongs to one directory: not to a copy, nor to one that was made anew or moved to its path", () => {
    const root = made("one")
    const { stateDirectory } = at(root)
    writeFileSync(join(root, "x"), "a change in it does not matter")
    expect(at(root).stateDirectory).toBe(stateDirectory)
    cpSync(root, join(base, "two"), { recursive: true })
    expect(at(join(base, "two")).stateDirectory).not.toBe(stateDirectory)
    renameSync(root, join(base, "three"))
    expect(at(join(base, "three")).stateDirectory).not.toBe(stateDirectory)
    renameSync(join(base, "two"), root)
    expect(at(root).stateDirectory).not.toBe(stateDirectory)
    rmSync(root, { recursive: true })
    renameSync(join(base, "three"), root)
    expect(at(root).stateDirectory).toBe(stateDirectory)
  })

  test("is refused inside of it, also by way of a link and where nothing is yet", () => {
    const root = made("ws")
    made("ws/inner")
    symlinkSync(join(root, "inner"), join(base, "link"))
    for (const inside of ["ws", "ws/inner", "ws/not/yet", "link", "link/not/yet"])
      expect([inside, codeOf(() => kept(root, join(base, inside)))]).toEqual([inside, "ACODE-SEC-006"])
    expect(codeOf(() => kept(base))).toBe("ACODE-SEC-006")
    expect(codeOf(() => kept("/"))).toBe("ACODE-SEC-006")
    expect(codeOf(() => kept(root, join(base, "ws-beside")))).toBe("accepted")
    expect(existsSync(join(root, "not"))).toBe(false)
  })
})
