import { afterEach, beforeEach, describe, expect, test } from "bun:test"
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { ensureAgentDirectory, statePlaces } from "../../src/app/state-directory.ts"
import { Failure } from "../../src/domain/failure.ts"

let base: string
let agent: string

beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), "acode-state-"))
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

describe("the state directory", () => {
  test("is made private, with everything but the configuration kept out of git", () => {
    ensureAgentDirectory(agent)
    expect(statSync(agent).mode & 0o777).toBe(0o700)
    expect(readFileSync(join(agent, ".gitignore"), "utf8")).toBe("*\n!.gitignore\n!config.yml\n")
  })

  test("can be made ready twice, and a person's own .gitignore stays", () => {
    ensureAgentDirectory(agent)
    writeFileSync(join(agent, ".gitignore"), "mine\n")
    ensureAgentDirectory(agent)
    expect(readFileSync(join(agent, ".gitignore"), "utf8")).toBe("mine\n")
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
    expect(existsSync(join(elsewhere, ".gitignore"))).toBe(false)
  })

  test("is refused when a file or a dangling link stands there", () => {
    writeFileSync(agent, "x")
    expect(codeOf(() => ensureAgentDirectory(agent))).toBe("ACODE-SEC-006")
    rmSync(agent)
    symlinkSync("/nowhere/at/all", agent)
    expect(codeOf(() => ensureAgentDirectory(agent))).toBe("ACODE-SEC-006")
  })

  test("that cannot be made is a failure with a code", () => {
    expect(codeOf(() => ensureAgentDirectory(join(base, "missing/.agent")))).toBe("ACODE-DB-001")
  })
})

test("keys, anchors and trust lie outside the workspace", () => {
  const places = statePlaces("/ws", "/home/somebody/.local/share")
  for (const outside of [places.keysDirectory, places.anchorsDirectory, places.trustDirectory])
    expect(outside).toStartWith("/home/somebody/.local/share/acode/")
  for (const inside of [
    places.databasePath,
    places.artifactsDirectory,
    places.quarantineDirectory,
    places.checkpointsDirectory,
  ])
    expect(inside).toStartWith("/ws/.agent/")
})
