import { describe, expect, test } from "bun:test"
import { symlinkSync } from "node:fs"
import { join } from "node:path"
import { readInstructions } from "../../../src/engine/context/instructions.ts"
import { type GateRoom, gateRoom } from "../../support/plan/gate-room.ts"

const read = ({ workspace, parts }: GateRoom) => readInstructions(workspace, parts.redactor)

describe("the instructions of a project", () => {
  test("are AGENTS.md and CLAUDE.md, where they are", () => {
    using room = gateRoom({ files: { "AGENTS.md": "Use tabs.\n", "CLAUDE.md": "Be brief.\n" } })
    expect(read(room)).toEqual([
      { path: "AGENTS.md", text: "Use tabs.\n" },
      { path: "CLAUDE.md", text: "Be brief.\n" },
    ])
  })

  test("are none without these files", () => {
    using room = gateRoom({ files: { "README.md": "x" } })
    expect(read(room)).toEqual([])
  })

  test("are told once where one file is a link to the other", () => {
    using room = gateRoom({ files: { "AGENTS.md": "Use tabs.\n" } })
    symlinkSync("AGENTS.md", join(room.root, "CLAUDE.md"))
    expect(read(room)).toEqual([{ path: "AGENTS.md", text: "Use tabs.\n" }])
  })

  test("are not read through a link that leads outside, from a directory or from bytes", () => {
    using room = gateRoom({ files: { "CLAUDE.md/x": "", "../secret.md": "SECRET" } })
    symlinkSync("../secret.md", join(room.root, "AGENTS.md"))
    expect(read(room)).toEqual([])
    using binary = gateRoom({ files: { "AGENTS.md": "a\0b" } })
    expect(read(binary)).toEqual([])
  })

  test("are cut at 16 KB, which is said", () => {
    using room = gateRoom({ files: { "AGENTS.md": "0123456789abcde\n".repeat(4_000) } })
    const [{ text, leftOutTokens } = { text: "" }] = read(room)
    expect(leftOutTokens).toBe((64_000 - 16 * 1024) / 4)
    expect(Buffer.byteLength(text)).toBeLessThan(17 * 1024)
    expect(text).toEndWith("\n[cut off; the file has 4000 lines]")
  })

  test("are redacted", () => {
    using room = gateRoom({
      files: { "AGENTS.md": "Log in with hunter2-hunter2.\n" },
      secretValues: ["hunter2-hunter2"],
    })
    expect(read(room)[0]?.text).toMatch(/^Log in with \[REDACTED:[^\]]+\]\.\n$/)
  })
})
