import { afterEach, beforeEach, describe, expect, test } from "bun:test"
import { symlinkSync } from "node:fs"
import { join } from "node:path"
import type { Json } from "../../src/base/canonical.ts"
import { readFileTree } from "../support/workspace/file-tree.ts"
import { failureOf, quietly, type TestRoom, testRoom } from "./support.ts"

const files = {
  "src/a.ts": "import { b } from './b.ts'\n\nexport function a() {\n  return b()\n}\n",
  "src/b.ts": "export function b() {\n  return 1\n}\n",
  "new/a.ts": "export function a() {\n  return b() + 1\n}\n",
  "new/b.ts": "export function b() {\n  return 2\n}\n",
}

let room: TestRoom
beforeEach(() => {
  room = testRoom()
  for (const [path, text] of Object.entries(files)) room.put(path, text)
})
afterEach(() => room[Symbol.dispose]())

describe("a splice that cannot be made leaves every file as it was", () => {
  const plan = (...steps: readonly object[]) => room.put("new/plan.json", JSON.stringify({ steps }))
  const good = { file: "src/a.ts", symbol: "a", with: "new/a.ts" }

  /** Returns the message of the refusal. */
  async function refused(code: string, tool: string, args: Json): Promise<string> {
    const before = readFileTree(room.root)
    const failure = await failureOf(() => room.call(tool, args))
    expect([failure?.code, failure?.message]).toEqual([code, expect.any(String)])
    expect(readFileTree(room.root)).toEqual(before)
    return failure?.message ?? ""
  }
  const planned = (args: Json) => ["splice_plan", args] as const
  const patch = (symbol: string, more: object = {}) =>
    ["splice_patch", { file: "src/b.ts", symbol, with: "new/b.ts", ...more }] as const
  test("because of its symbol", async () => {
    expect(await refused("E104", ...patch("none"))).toContain("defines no symbol none")
    expect(await refused("E104", ...patch("b", { kind: "class" }))).toContain(
      "there is function b at src/b.ts:1",
    )
    room.put("src/b.ts", "export class A { b() {} }\nexport class B {\n  b() {}\n}\n")
    const message = await refused("ACODE-PAT-004", ...patch("b"))
    for (const place of ["A.b at src/b.ts:1", "B.b at src/b.ts:3"]) expect(message).toContain(place)
  })

  test("because of its new text", async () => {
    room.put("new/b.ts", "export function b( {\n")
    expect(await refused("ACODE-CODE-002", ...patch("b"))).toContain("syntax error")
    room.put("new/b.ts", Buffer.from("// \xe4\nfunction b() {}", "latin1"))
    expect(await refused("ACODE-FS-009", ...patch("b"))).toContain("not UTF-8")
    await refused("ACODE-FS-002", ...patch("b", { with: "new/none.ts" }))
    await refused("ACODE-SEC-005", ...patch("b", { with: "../outside.ts" }))
    room.put(".env", "function b() {}\n")
    await refused("ACODE-SEC-003", ...patch("b", { with: ".env" }))
    symlinkSync("../.env", join(room.root, "new/link.ts"))
    await refused("ACODE-SEC-003", ...patch("b", { with: "new/link.ts" }))
  })

  test("because of its file", async () => {
    room.put("src/b.txt", "function b() {}\n")
    await refused("ACODE-CODE-001", ...patch("b", { file: "src/b.txt" }))
    room.put("src/b.ts", Buffer.from("export function b() {}\n", "utf16le"))
    await refused("ACODE-CODE-001", ...patch("b"))
    await refused("ACODE-FS-002", ...patch("b", { file: "src/none.ts" }))
    room.put(".husky/hook.ts", "function b() {}\n")
    await refused("ACODE-SEC-003", ...patch("b", { file: ".husky/hook.ts" }))
    symlinkSync("loop.ts", join(room.root, "src/loop.ts"))
    await refused("ACODE-SEC-005", ...patch("b", { file: "src/loop.ts" }))
  })

  test("because of one step of many", async () => {
    plan(good, { file: "src/b.ts", symbol: "none", with: "new/b.ts" })
    expect(await refused("E104", ...planned({ plan_file: "new/plan.json" }))).toContain("splice 2 of 2")
    plan(good, good, { ...good, symbol: "b", file: "src/b.ts" })
    expect(await refused("ACODE-CODE-002", ...planned({ plan_file: "new/plan.json" }))).toContain("3 of 3")
    room.put(".husky/x.ts", files["src/a.ts"])
    plan(good, { ...good, file: ".husky/x.ts" })
    expect(await refused("ACODE-SEC-003", ...planned({ plan_file: "new/plan.json" }))).toContain(
      "src/a.ts restored",
    )
  })

  test("because its list is not a splice plan", async () => {
    for (const text of [
      "",
      "steps",
      "[]",
      "{}",
      '{"steps":[]}',
      '{"steps":[{"file":"a"}]}',
      '{"steps":[],"steps":[]}',
    ]) {
      room.put("new/plan.json", text)
      expect([text, await refused("ACODE-PAT-001", ...planned({ plan_file: "new/plan.json" }))]).toEqual([
        text,
        expect.stringContaining("splice plan"),
      ])
    }
    plan({ ...good, check: "yes" })
    await refused("ACODE-PAT-001", ...planned({ plan_file: "new/plan.json" }))
    await refused("ACODE-FS-002", ...planned({ plan_file: "none.json" }))
  })
})

describe("a splice plan", () => {
  const write = (...steps: readonly object[]) => room.put("new/plan.json", JSON.stringify({ steps }))
  const a = { file: "src/a.ts", symbol: "a", with: "new/a.ts" }
  const b = { file: "src/b.ts", symbol: "b", with: "new/b.ts" }

  test("declares every file that it would read and write", () => {
    write(a, b)
    const { effects } = room.declare("splice_plan", { plan_file: "new/plan.json" })
    expect(effects.map(effect => ("path" in effect ? `${effect.kind} ${effect.path}` : ""))).toEqual([
      ...["read new/plan.json", "read new/a.ts", "read src/a.ts", "write src/a.ts"],
      ...["read new/b.ts", "read src/b.ts", "write src/b.ts"],
    ])
  })

  test("whose list or files changed after the decision is not carried out", async () => {
    write(a)
    const listed = room.declare("splice_plan", { plan_file: "new/plan.json" })
    write(a, b)
    expect((await failureOf(() => listed.prepare()))?.code).toBe("ACODE-FS-007")
    const prepared = await room.declare("splice_plan", { plan_file: "new/plan.json" }).prepare()
    room.put("src/b.ts", "export function b() {\n  return 9\n}\n")
    const before = readFileTree(room.root)
    expect((await failureOf(() => prepared.execute(quietly)))?.code).toBe("ACODE-FS-007")
    expect(readFileTree(room.root)).toEqual(before)
  })

  test("makes the steps of one file in order, however its path is written", async () => {
    room.put("new/b2.ts", "export function b() {\n  return 3\n}\n")
    symlinkSync("b.ts", join(room.root, "src/link.ts"))
    write(
      b,
      { ...b, file: "src/link.ts", with: "new/b2.ts" },
      { ...b, file: "./src/b.ts", with: "new/b2.ts" },
    )
    const { changes } = await room.call("splice_plan", { plan_file: "new/plan.json" })
    expect(changes.map(({ path }) => path)).toEqual(["src/b.ts"])
    expect(room.read("src/b.ts")).toBe(room.read("new/b2.ts"))
  })
})

test("a splice that changes nothing says so and writes nothing", async () => {
  room.put("new/b.ts", files["src/b.ts"])
  const result = await room.call("splice_patch", { file: "src/b.ts", symbol: "b", with: "new/b.ts" })
  expect([result.changes, result.text]).toEqual([[], expect.stringContaining("unchanged")])
})

test("a secret that the author saw as a marker is kept", async () => {
  const key = `ghp_${"a1B2c3D4".repeat(5)}`.slice(0, 40)
  const text = (value: string, more: string) =>
    `export function b() {\n  const token = "${value}"\n  return token${more}\n}\n`
  room.put("src/b.ts", text(key, ""))
  room.put("new/b.ts", room.room.redactor.redactText(text(key, ".length")))
  expect(room.read("new/b.ts")).toContain("[REDACTED:")
  await room.call("splice_patch", { file: "src/b.ts", symbol: "b", with: "new/b.ts" })
  expect(room.read("src/b.ts")).toBe(text(key, ".length"))
  room.put("new/b.ts", room.room.redactor.redactText(`// ${key}\n${text(key, "")}`))
  const failure = await failureOf(() =>
    room.call("splice_patch", { file: "src/b.ts", symbol: "b", with: "new/b.ts" }),
  )
  expect(failure?.code).toBe("ACODE-SEC-007")
})
