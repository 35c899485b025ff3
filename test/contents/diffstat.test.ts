import { describe, expect, test } from "bun:test"
import { rmdirSync, rmSync, symlinkSync } from "node:fs"
import { join } from "node:path"
import { diffStatLines } from "../../src/cli/render/diffstat-text.ts"
import { type DiffStat, diffStat } from "../../src/engine/diffstat.ts"
import { textChanges } from "../../src/workspace/change/changes.ts"
import { agentWorkspace } from "../support/agent/agent-workspace.ts"
import { type GateRoom, gateRoom } from "../support/plan/gate-room.ts"
import { planWorkspace } from "../support/plan/plan-workspace.ts"
import { missingProgram, missingSandbox, testWhere } from "../support/requirement.ts"
import { greeting } from "../support/script-replies.ts"
import { OracleDirectory, OracleRepository } from "./oracle.ts"
import { statViolations } from "./real-tree-run.ts"

const sandboxTest = testWhere(missingSandbox ?? missingProgram("git"))
const granted = { isGrantedAsWritten: true }

const statOf = ({ workspace, checkpoints, store, events }: GateRoom): DiffStat =>
  diffStat(
    { workspace, checkpoints, artifacts: store.artifacts, changes: textChanges, hasOthers: () => false },
    events(),
  )

describe("what a session changed", () => {
  test("is counted from before its first change of a file to what it left", async () => {
    using room = gateRoom({
      files: { "a.txt": "one\ntwo\nthree\n", "gone.txt": "x\ny", "same.txt": "same\n" },
    })
    const edit = (path: string, search: string, replace: string) =>
      room.call("modify_file", { path, edits: [{ search, replace }] }, granted)
    await edit("a.txt", "two", "zwei")
    await edit("a.txt", "zwei", "zwei\nzweieinhalb")
    await edit("same.txt", "same", "other")
    await edit("same.txt", "other", "same")
    await room.call("delete_file", { paths: ["gone.txt"] }, granted)
    await room.call("create_file", { path: "new.txt", content: "1\n2\n3" }, granted)
    expect(statOf(room)).toEqual({
      files: [
        { path: "a.txt", change: "modified", added: 2, removed: 1, note: null },
        { path: "gone.txt", change: "deleted", added: 0, removed: 2, note: null },
        { path: "new.txt", change: "new", added: 3, removed: 0, note: null },
      ],
      total: { files: 3, added: 5, removed: 3, uncounted: 0 },
    })
  })

  test("is not guessed where somebody else changed it since, or no copy is left", async () => {
    using room = gateRoom({ files: { "a.txt": "one\n", "b.txt": "two\n", "c.txt": "three\n" } })
    for (const path of ["a.txt", "b.txt", "c.txt"])
      await room.call("write_file", { path, content: `${path}\n` }, granted)
    room.put("a.txt", "mine\n")
    room.put("c.txt", "c.txt\n")
    rmSync(join(room.root, ".agent/checkpoints/contents"), { recursive: true })
    const notes = statOf(room).files.map(({ added, removed, note }) => [added, removed, note])
    expect(notes).toEqual([
      [null, null, "changed by another program since"],
      [null, null, "its old content was not stored"],
      [null, null, "its old content was not stored"],
    ])
    expect(statOf(room).total).toEqual({ files: 3, added: 0, removed: 0, uncounted: 3 })
  })

  test("is the session's where files, links and directories took each other's places, until somebody changes it", async () => {
    using room = gateRoom({ files: { "file.txt": "one\ntwo\n", "there/x.txt": "x\n" } })
    symlinkSync("file.txt", join(room.root, "link"))
    symlinkSync("file.txt", join(room.root, "other"))
    const script =
      "rm file.txt link other; mkdir file.txt link; echo in > link/in; rm -r there; echo file > there; ln -s gone other"
    await room.call("run_command", { argv: ["sh", "-c", script] }, granted)
    const stats = () =>
      statOf(room).files.map(({ path, added, removed, note }) => [path, added, removed, note])
    const others = [
      ["link", 0, 1, null],
      ["link/in", 1, 0, null],
    ]
    expect(stats()).toEqual([
      ["file.txt", 0, 2, null],
      ...others,
      ["other", 1, 1, null],
      ["there", 1, 0, null],
      ["there/x.txt", 0, 1, null],
    ])
    rmSync(join(room.root, "other"))
    symlinkSync("elsewhere", join(room.root, "other"))
    rmdirSync(join(room.root, "file.txt"))
    room.put("file.txt", "mine\n")
    const foreign = "changed by another program since"
    expect(stats()).toEqual([
      ["file.txt", null, null, foreign],
      ...others,
      ["other", null, null, foreign],
      ["there", 1, 0, null],
      ["there/x.txt", 0, 1, null],
    ])
  })

  testWhere(missingProgram("git"))("is counted as what changed it also beyond the files listed", async () => {
    using room = gateRoom({ files: { "a.txt": "a\n" } })
    const many = Array.from({ length: 1010 }, (_, index) => `many/${index}`)
    const sh = (script: string) =>
      expect(Bun.spawnSync(["sh", "-c", script], { cwd: room.root, stderr: "inherit" }).exitCode).toBe(0)
    const commit = "git -c user.name=Ada -c user.email=ada@example.invalid commit -qm x"
    sh(`git init -q && git add a.txt && ${commit} && git switch -qc other && mkdir many`)
    for (const path of many) room.put(path, "")
    sh(`git add many && ${commit} && git switch -q -`)
    const run = (script: string) => room.call("run_command", { argv: ["sh", "-c", script] }, granted)
    await run("git switch -q other; echo made > made.txt")
    const switched = statOf(room)
    expect([switched.total.files, switched.total.duringCommands, switched.meanwhile?.length]).toEqual([
      1,
      1,
      many.length,
    ])
    await run("for file in many/*; do echo more > $file; done")
    const { files, total } = statOf(room)
    const count = many.length + 1
    expect([files.length, total.files, total.duringCommands]).toEqual([1000, count, count])
  })

  test("is told in few lines, with names that a terminal cannot act on", () => {
    const files = Array.from({ length: 40 }, (_, index) => ({
      path: index === 0 ? "\u001b[31mred\nname" : `file ${index}`,
      change: "modified" as const,
      added: 1,
      removed: 2,
      note: null,
    }))
    const lines = diffStatLines({ files, total: { files: 40, added: 40, removed: 80, uncounted: 0 } })
    expect(lines).toHaveLength(12)
    expect(lines[0]).toContain('"\\033[31mred\\nname" | +1 -2')
    expect(lines.slice(-2)).toEqual([
      " … and 30 more files",
      " 40 files changed, 40 lines added, 80 lines removed",
    ])
    expect(diffStatLines({ files: [], total: { files: 0, added: 0, removed: 0, uncounted: 0 } })).toEqual([])
  })
})

const script = [
  "for i in 1 2 3 4 5 6 7 8; do seq $i > made$i; done",
  "echo more >> kept.txt; sed -i 1d lines.txt; rm a-old.txt; chmod 755 mode.sh",
  "printf 'a\\0b' > binary; printf 'x' > unended; printf '' > empty; ln -s kept.txt link",
].join("; ")

sandboxTest("plan run and session show tell what git says about the same files", async () => {
  using room = planWorkspace({
    files: {
      "kept.txt": "kept\n",
      "lines.txt": "1\n2\n3\n",
      "a-old.txt": "old\nold\n",
      "mode.sh": "x\n",
      binary: "t",
    },
  })
  using oracle = new OracleDirectory()
  const repository = new OracleRepository(oracle, room.workspace.root)
  room.plan([["run_command", { argv: ["sh", "-c", script] }]])
  const { result, run } = await room.approveAndRun()
  expect([run.exitCode, ...statViolations(result.changes, repository)]).toEqual([run.exitCode])
  expect(result.changes.files.find(({ path }) => path === "mode.sh")?.note).toBe("only its mode changed")
  expect(result.changes.files.find(({ path }) => path === "binary")?.note).toBe("binary, 1 → 3 bytes")
  const shown = await room.acode("session", "show")
  expect(shown.stdout).toContain(" a-old.txt (deleted)")
  expect(shown.stdout).toMatch(/ 16 files changed, \d+ lines added, 3 lines removed \(1 file not counted\)/)
  const { changes } = JSON.parse((await room.acode("session", "show", "--json")).stdout)
  expect(changes).toEqual(result.changes)
  expect((await room.acode("session", "undo", "--commands")).exitCode).toBe(0)
  expect((await room.acode("session", "show")).stdout).not.toContain("files changed")
})

sandboxTest("run tells it before how it ended", async () => {
  using room = agentWorkspace()
  room.script(...greeting())
  const { stdout } = await room.acode("run", "greet", "--yes=plan", "--script", room.scriptFile)
  expect(stdout).toMatch(/ greeting.txt \(new\) \| \+1 -0\n 1 file changed, 1 line added, 0 lines removed\n✓/)
  const change = { path: "greeting.txt", change: "new", added: 1, removed: 0, note: null }
  const { changes } = JSON.parse((await room.acode("session", "show", "--json")).stdout)
  expect(changes).toEqual({ files: [change], total: { files: 1, added: 1, removed: 0, uncounted: 0 } })
})

sandboxTest("run --json has it in its last line, and in no other", async () => {
  using room = agentWorkspace()
  room.script(...greeting())
  const { stdout } = await room.run("--yes=plan")
  const lines = stdout.trimEnd().split("\n")
  const counted = lines.map(line => JSON.parse(line)).filter(({ changes }) => changes !== undefined)
  expect(counted.map(({ type, changes }) => [type, changes.total])).toEqual([
    ["session.finished", { files: 1, added: 1, removed: 0, uncounted: 0 }],
  ])
  expect(JSON.parse(lines.at(-1) ?? "")).toEqual(counted[0])
})
