import { afterEach, beforeEach, describe, expect, test } from "bun:test"
import { readContextFiles } from "../../../src/engine/context/stage-view.ts"
import { createRedactor } from "../../../src/redaction/redactor.ts"
import { type GateRoom, gateRoom } from "../../support/plan/gate-room.ts"

const redactor = createRedactor({ secretValues: ["swordfish-value"], extraPatterns: [] })

let room: GateRoom
beforeEach(() => {
  room = gateRoom({
    files: {
      "src/b.ts": "b\n",
      "src/a.ts": "const key = 'swordfish-value'\n",
      "docs/large.md": "line\n".repeat(10_000),
      "docs/binary": "\u0000\u0001\u0002",
    },
  })
})
afterEach(() => room[Symbol.dispose]())

const read = (...globs: readonly string[]) => readContextFiles(room.parts.room.workspace, redactor, globs)

describe("files a person wants a model to see", () => {
  test("come once each, by name, with their secrets redacted", () => {
    const files = read("src/*.ts", "src/b.ts")
    expect(files.map(({ path }) => path)).toEqual(["src/a.ts", "src/b.ts"])
    expect(files[0]?.text).not.toContain("swordfish-value")
    expect(files[1]?.text).toBe("b\n")
  })

  test("are cut off where they are long, and say so", () => {
    const [large] = read("docs/large.md")
    expect(large?.text.length).toBeLessThan(20_000)
    expect(large?.text).toContain("[cut off; the file has 10000 lines]")
    expect(large?.leftOutTokens).toBeGreaterThan(8_000)
    expect(read("src/b.ts")).toEqual([{ path: "src/b.ts", text: "b\n" }])
  })

  test("that are too many, or too long together, are named", () => {
    for (let index = 100; index < 130; index++) room.put(`many/${index}.txt`, `${index}\n`)
    const files = read("many/*")
    expect(files.slice(0, -1).map(({ path }) => path)).toEqual(
      Array.from({ length: 20 }, (_, index) => `many/${100 + index}.txt`),
    )
    const rest = Array.from({ length: 10 }, (_, index) => `many/${120 + index}.txt`).join("\n")
    expect(files.at(-1)).toEqual({ path: "too many to show all of them; read_file shows these", text: rest })

    for (let index = 1; index <= 5; index++) room.put(`long/${index}.txt`, "x".repeat(20_000))
    expect(read("long/*").at(-1)?.text).toBe("long/5.txt")
    for (let index = 130; index < 300; index++) room.put(`many/${index}.txt`, "")
    expect(read("many/*").at(-1)?.text.split("\n")).toHaveLength(101)
  })

  test("that no model can read, or that are not there, are left out", () => {
    expect(read("docs/binary", "nothing/*", "../*", "[")).toEqual([])
  })
})
