import { afterEach, beforeEach, expect, test } from "bun:test"
import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs"
import { shownPath } from "../../../src/base/path-names.ts"
import { type PlanWorkspace, planWorkspace } from "../../support/plan/plan-workspace.ts"
import { missingSandbox, testWhere } from "../../support/requirement.ts"

let room: PlanWorkspace
beforeEach(() => {
  room = planWorkspace({ git: true, files: { ".gitignore": "ignored/\n", "ignored/old": "x\n" } })
})
afterEach(() => room[Symbol.dispose]())

/** Names whose second part would be a line of its own, an order to the terminal, or lost. */
const names = [
  "a\nFORGED",
  "b\rFORGED",
  "\u001b[2JFORGED",
  "\u009b2JFORGED",
  "t\tFORGED",
  "\u202eFORGED",
  'q"\\n',
]
const nonUtf8 = Buffer.from("FORGED\xff\nFORGED", "latin1")
/** As names stand in the history and in JSON: a byte that is no UTF-8 is half of a character. */
const recorded = [...names, "FORGED\udcff\nFORGED"]

const at = (name: string | Buffer, below = "") =>
  Buffer.concat([Buffer.from(`${room.workspace.root}/${below}`), Buffer.from(name)])

/** What no reader could tell from acode's own words, or a terminal would act on. */
function forgeries(command: string, text: string): readonly string[] {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it looks for
  const unsafe = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202e\ufffd]|^\s*FORGED/m.exec(text)
  if (unsafe === null) return []
  return [`${command}: ${JSON.stringify(text.slice(Math.max(0, unsafe.index - 60), unsafe.index + 30))}`]
}

const script = [
  'for file in ./*; do [ -f "$file" ] && echo more >> "$file"; done',
  "mkdir \"$(printf 'dir\\nFORGED')\"; echo new > \"$(printf 'dir\\nFORGED/new\\nFORGED')\"",
  "ln -s \"$(printf 'to\\nFORGED')\" \"$(printf 'link\\nFORGED')\"",
  "echo x > \"$(printf '.env.\\nFORGED')\"; mkdir -p ignored; echo x > \"$(printf 'ignored/i\\nFORGED')\"",
].join("\n")

async function changedByPlan(): Promise<void> {
  for (const name of [...names, nonUtf8]) writeFileSync(at(name), "one\n")
  mkdirSync(at("old\nFORGED"))
  writeFileSync(at("file\nFORGED", "old\nFORGED/"), "one\n")
  symlinkSync("from\nFORGED", at("old-link\nFORGED"))
  room.plan([["run_command", { argv: ["sh", "-c", script] }]])
  expect((await room.acode("plan", "approve", room.planFile)).exitCode).toBe(0)
}

testWhere(missingSandbox)(
  "no name of a file forges a line or reaches a terminal, whatever tells it",
  async () => {
    await changedByPlan()
    const found: string[] = []
    const tell = async (...args: readonly string[]) => {
      const run = await room.acode(...args)
      found.push(...forgeries(args.join(" "), run.stdout + run.stderr))
      return run
    }
    await tell("plan", "show", room.planFile)
    expect((await tell("plan", "run", room.planFile)).stdout).toMatch(/^ "a\\nFORGED" +\| \+1 -0$/m)
    for (const verb of ["show", "list", "logs", "validate"]) await tell("session", verb)
    const evidence = JSON.parse((await room.acode("evidence", "by-tool", "run_command", "--json")).stdout)
    await tell("evidence", "show", evidence[0].id)
    for (const args of [["status"], ["doctor"], ["storage", "show"], ["workspace", "list"], ["runs", "list"]])
      await tell(...args)
    await tell("session", "undo", "--preview")
    expect((await tell("session", "undo")).exitCode).toBe(60)
    await tell("session", "undo", "--also", "none\nFORGED")
    expect((await tell("session", "undo", "--commands")).exitCode).not.toBe(0)
    const checkpoints = JSON.parse((await room.acode("checkpoint", "list", "--json")).stdout)
    await tell("checkpoint", "list")
    for (const { id } of checkpoints) await tell("checkpoint", "show", id)
    await tell("checkpoint", "restore", checkpoints[0].id, "none\nFORGED")
    for (const name of [...names, nonUtf8]) writeFileSync(at(name), "other\n")
    expect((await tell("checkpoint", "restore", checkpoints[0].id)).exitCode).toBe(60)
    await tell("storage", "free", "--to", "0", "--dry-run", "--replaced")
    await tell("exec", "--", "sh", "-c", "echo x > \"$(printf '.env.\\nFORGED')\"")
    await tell("runs", "show", JSON.parse((await room.acode("runs", "list", "--json")).stdout)[0].id)
    expect(found).toEqual([])
  },
  60_000,
)

testWhere(missingSandbox)(
  "the diffstat counts them, JSON has them exactly, and as printed they can be typed",
  async () => {
    await changedByPlan()
    const run = await room.acode("plan", "run", room.planFile, "--json")
    const { changes } = JSON.parse(run.stdout)
    const stats = new Map(changes.files.map((file: { readonly path: string }) => [file.path, file]))
    for (const path of recorded)
      expect([path, stats.get(path)]).toMatchObject([path, { added: 1, removed: 0, note: null }])
    for (const [index, path] of recorded.entries()) {
      const undone = await room.acode("session", "undo", "--also", shownPath(path))
      expect([path, undone.stdout]).toEqual([path, expect.stringContaining(`restored: ${shownPath(path)}\n`)])
      const name = [...names, nonUtf8][index] ?? ""
      expect(readFileSync(at(name), "utf8")).toBe("one\n")
    }
    expect(readdirSync(room.workspace.root).filter(name => name === "a\nFORGED")).toHaveLength(1)
  },
  60_000,
)

test("a name that acode refuses is named in one line", async () => {
  const run = await room.acode("policy", "check", "--path", "a\nFORGED\u001b[2J", "--op", "read")
  expect(forgeries("policy check", run.stdout + run.stderr)).toEqual([])
  const given = await room.acode("plan", "show", "no\nFORGED\u001b[2J")
  expect(forgeries("plan show", given.stdout + given.stderr)).toEqual([])
  const elsewhere = await room.acode("-C", "no\nFORGED\u001b[2J", "status")
  expect(forgeries("-C", elsewhere.stdout + elsewhere.stderr)).toEqual([])
})
