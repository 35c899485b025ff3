import { afterEach, describe, expect, test } from "bun:test"
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs"
import { join } from "node:path"
import { systemIds } from "../../src/base/clock.ts"
import { ToolCallSettled } from "../../src/domain/events/call-events.ts"
import { contentsIn, planUndo, type Undone, undo } from "../../src/engine/undo.ts"
import { event } from "../store/support/session-events.ts"
import { type PlanRoom, planRoom } from "../support/plan/plan-room.ts"
import type { PlanStepText } from "../support/plan/plan-workspace.ts"

let room: PlanRoom
afterEach(() => room[Symbol.dispose]())

const parts = () => ({
  sessionId: room.log.sessionId,
  checkpoints: room.checkpoints,
  artifacts: room.store.artifacts,
  ids: systemIds,
  workspace: room.workspace,
  others: [],
})
const planned = () => planUndo(parts(), room.events())
/** With what changed while a command ran. */
const undone = async () => {
  const plan = await planned()
  const contents = contentsIn(plan)
  const ofCommands = plan.doubts.filter(({ isOnlyByCommand }) => isOnlyByCommand)
  const also = new Map(ofCommands.map(({ path: each }) => [each, contents.get(each)]))
  return undo(parts(), plan, also, work => room.log.whileOwned(work))
}
const path = (name: string) => join(room.root, name)
const write = (name: string, content: string) =>
  room.call("write_file", { path: name, content }, { isGrantedAsWritten: true })
const sh = (script: string) => ["run_command", { argv: ["sh", "-c", script] }] as const

const listsOf = ({ restored, removed, foreign, blocked }: Undone) => ({
  restored: [...restored],
  removed: [...removed],
  foreign: [...foreign],
  blocked: [...blocked],
})

describe("undoing a session", () => {
  test("gives files back that were created, changed and deleted, and leaves the rest", async () => {
    room = planRoom({ files: { "a.txt": "a\n", "b.txt": "b\n", "c.txt": "c\n" } })
    const before = (await room.workspace.tree()).digest
    await room.run([
      ["file_write", { path: "a.txt", contents: "A\n" }],
      ["delete_file", { paths: ["b.txt"] }],
      ["file_create", { path: "deep/new.txt", contents: "n\n" }],
      ["modify_file", { path: "c.txt", edits: [{ search: "c", replace: "C" }] }],
    ])
    expect(await planned()).toMatchObject({
      remove: ["deep/", "deep/new.txt"],
      write: ["a.txt", "b.txt", "c.txt"],
      doubts: [],
      lost: [],
    })
    expect(await undone()).toEqual({
      removed: ["deep/", "deep/new.txt"],
      restored: ["a.txt", "b.txt", "c.txt"],
      foreign: [],
      blocked: [],
      keptId: expect.stringMatching(/^chk_/),
      isInterrupted: false,
    })
    expect((await room.workspace.tree()).digest).toBe(before)
  })

  test("looks before it does: the preview changes nothing", async () => {
    room = planRoom({ files: { "a.txt": "a\n" } })
    await room.run([["file_write", { path: "a.txt", contents: "A\n" }]])
    await planned()
    expect(room.read("a.txt")).toBe("A\n")
  })

  test("gives modes and symlinks back that a command changed", async () => {
    room = planRoom({ files: { "run.sh": "#!/bin/sh\n", "a.txt": "a\n", "b.txt": "b\n" } })
    chmodSync(path("run.sh"), 0o755)
    symlinkSync("a.txt", path("link"))
    symlinkSync("b.txt", path("gone"))
    await room.run([sh("chmod 600 run.sh; ln -sfn b.txt link; rm gone; ln -s a.txt made")])
    expect(await undone()).toMatchObject({
      removed: ["made"],
      restored: ["gone", "link", "run.sh"],
      foreign: [],
    })
    expect(statSync(path("run.sh")).mode & 0o777).toBe(0o755)
    expect([readlinkSync(path("link")), readlinkSync(path("gone"))]).toEqual(["a.txt", "b.txt"])
    expect(existsSync(path("made"))).toBe(false)
  })

  test("gives a symlink back that a tool deleted", async () => {
    room = planRoom({ files: { "a.txt": "a\n" } })
    symlinkSync("a.txt", path("link"))
    await room.run([["delete_file", { paths: ["link"] }]])
    await undone()
    expect([readlinkSync(path("link")), room.read("a.txt")]).toEqual(["a.txt", "a\n"])
  })

  test("gives names back that are not UTF-8, whatever changed them", async () => {
    room = planRoom()
    const bytes = (name: string) => Buffer.from(`${room.root}/${name}`, "latin1")
    mkdirSync(bytes("d\xff"))
    for (const name of ["changed", "deleted", "linked"]) writeFileSync(bytes(`d\xff/${name}`), "old")
    symlinkSync(Buffer.from("d\xff", "latin1"), path("link"))
    const before = (await room.workspace.tree()).digest
    await room.run([
      ["delete_file", { paths: ["link/linked"] }],
      sh("cd link; echo X > changed; rm deleted; echo N > new; echo N > $(printf '../new\\377')"),
    ])
    expect(await undone()).toEqual({
      removed: ["d\udcff/new", "new\udcff"],
      restored: ["d\udcff/changed", "d\udcff/deleted", "d\udcff/linked"],
      foreign: [],
      blocked: [],
      keptId: expect.stringMatching(/^chk_/),
      isInterrupted: false,
    })
    expect((await room.workspace.tree()).digest).toBe(before)
  })

  test("takes a path that several steps changed back to before the first", async () => {
    room = planRoom({ files: { "a.txt": "0\n" } })
    await room.run([
      ["file_write", { path: "a.txt", contents: "1\n" }],
      sh("echo 2 > a.txt"),
      ["modify_file", { path: "a.txt", edits: [{ search: "2", replace: "3" }] }],
    ])
    expect((await undone()).restored).toEqual(["a.txt"])
    expect(room.read("a.txt")).toBe("0\n")
  })

  test("has nothing to do for a file that came and went, or is as it was", async () => {
    room = planRoom({ files: { "a.txt": "0\n" } })
    await room.run([
      ["file_write", { path: "a.txt", contents: "1\n" }],
      ["file_write", { path: "a.txt", contents: "0\n" }],
      ["file_create", { path: "t.txt", contents: "t" }],
      ["delete_file", { paths: ["t.txt"] }],
    ])
    expect(await planned()).toMatchObject({ remove: [], write: [], doubts: [], lost: [] })
  })

  test("has nothing to do for a session that only read", async () => {
    room = planRoom({ files: { "a.txt": "0\n" } })
    await room.run([["file_read", { path: "a.txt" }], sh("true")])
    expect(await planned()).toMatchObject({ remove: [], write: [], doubts: [], lost: [], isEmpty: true })
  })

  test("puts back what a step did that failed later", async () => {
    room = planRoom({ files: { "a.txt": "0\n" } })
    expect((await room.run([sh("echo 1 > a.txt; exit 9")])).exit_code).toBe(30)
    await undone()
    expect(room.read("a.txt")).toBe("0\n")
  })

  test("of more changes than an event holds finds all of them", async () => {
    room = planRoom()
    await room.run([sh("for i in $(seq 150); do echo $i > f$i.txt; done")])
    expect((await undone()).removed).toHaveLength(150)
    expect((await room.workspace.tree()).entries).toEqual([])
  })
})

describe("what somebody else did", () => {
  test("afterwards is never touched, and is named", async () => {
    room = planRoom({ files: { "a.txt": "a\n", "b.txt": "b\n", "c.txt": "c\n" } })
    await room.run([
      ["file_write", { path: "a.txt", contents: "A\n" }],
      ["file_create", { path: "new.txt", contents: "n\n" }],
      ["delete_file", { paths: ["b.txt"] }],
      ["file_write", { path: "c.txt", contents: "C\n" }],
    ])
    room.put("a.txt", "hers\n")
    room.put("new.txt", "hers\n")
    room.put("b.txt", "hers\n")
    const reason = "it changed after the session"
    expect((await planned()).doubts).toEqual(
      ["a.txt", "b.txt", "new.txt"].map(each => ({ path: each, reason, isOnlyByCommand: false })),
    )
    expect(await undone()).toMatchObject({
      foreign: ["a.txt", "b.txt", "new.txt"],
      restored: ["c.txt"],
      removed: [],
    })
    expect(["a.txt", "b.txt", "new.txt", "c.txt"].map(room.read)).toEqual([
      "hers\n",
      "hers\n",
      "hers\n",
      "c\n",
    ])
  })

  test("in between two steps is where the path goes back to, and not beyond", async () => {
    room = planRoom({ files: { "a.txt": "0\n" } })
    await room.run(
      [
        ["file_write", { path: "a.txt", contents: "1\n" }],
        ["file_write", { path: "a.txt", contents: "2\n" }],
      ],
      { onStepComplete: ({ index }) => (index === 0 ? room.put("a.txt", "hers\n") : undefined) },
    )
    expect((await undone()).restored).toEqual(["a.txt"])
    expect(room.read("a.txt")).toBe("hers\n")
  })

  test("by putting something else in the place of a file is theirs", async () => {
    room = planRoom({ files: { "a.txt": "a\n" } })
    await room.run([["file_write", { path: "a.txt", contents: "A\n" }]])
    rmSync(path("a.txt"))
    room.put("a.txt/inside.txt", "hers\n")
    expect(await undone()).toMatchObject({ foreign: ["a.txt"], restored: [] })
    expect(room.read("a.txt/inside.txt")).toBe("hers\n")
  })
})

describe("a pre-image that is not there", () => {
  test("because it was collected makes the path lost, and named; the others go back", async () => {
    room = planRoom({ files: { "a.txt": "a\n", "b.txt": "b\n" } })
    const { step_results } = await room.run([
      ["file_write", { path: "a.txt", contents: "A\n" }],
      ["file_write", { path: "b.txt", contents: "B\n" }],
    ])
    room.checkpoints.collect([step_results[0]?.execution_id ?? ""])
    expect(await planned()).toMatchObject({ lost: [{ path: "a.txt" }], write: ["b.txt"] })
    expect(await undone()).toMatchObject({
      restored: ["b.txt"],
      blocked: [{ path: "a.txt", reason: "its old content was not stored" }],
    })
    expect([room.read("a.txt"), room.read("b.txt")]).toEqual(["A\n", "b\n"])
  })

  test("because it is damaged makes the path lost, and the others go back", async () => {
    room = planRoom({ files: { "a.txt": "a\n", "b.txt": "b\n" } })
    const { step_results } = await room.run([
      ["file_write", { path: "a.txt", contents: "A\n" }],
      ["file_write", { path: "b.txt", contents: "B\n" }],
    ])
    writeFileSync(path(`.agent/checkpoints/manifests/${step_results[0]?.execution_id}.json`), "")
    expect(await planned()).toMatchObject({ lost: [{ path: "a.txt" }], write: ["b.txt"] })
    expect(await undone()).toMatchObject({ restored: ["b.txt"], blocked: [{ path: "a.txt" }] })
  })

  test("because one file was too large costs that file and no other", async () => {
    room = planRoom({
      files: { "a.txt": "a\n", "b.txt": "b\n", "large.bin": "x".repeat(3_000) },
      checkpointLimits: { fileBytesMax: 1_000 },
    })
    await room.run([
      ["file_write", { path: "b.txt", contents: "B\n" }],
      sh("echo A | tee a.txt b.txt > new.txt; echo more >> large.bin; seq 2000 > also-large.txt"),
    ])
    expect(await undone()).toMatchObject({
      restored: ["a.txt", "b.txt"],
      removed: ["also-large.txt", "new.txt"],
      blocked: [{ path: "large.bin", reason: expect.stringContaining("larger than 1000 bytes") }],
    })
    expect([room.read("a.txt"), room.read("b.txt")]).toEqual(["a\n", "b\n"])
  })
})

describe("a list of changes that is not there", () => {
  const list = () => {
    const [ref] = room.data(ToolCallSettled).flatMap(({ changes }) => ("ref" in changes ? changes.ref : []))
    const hash = ref?.slice("sha256:".length) ?? ""
    return room.temp.state("artifacts", hash.slice(0, 2), hash.slice(2))
  }
  const losses: readonly (readonly [string, () => void])[] = [
    ["is gone", () => rmSync(list())],
    ["is damaged", () => writeFileSync(list(), "[]")],
  ]
  test.each(losses)(
    "because it %s is told with how long it was, each time; the others go back",
    async (_, lose) => {
      room = planRoom({ files: { "a.txt": "a\n" } })
      const { step_results } = await room.run([
        sh("for i in $(seq 150); do echo $i > f$i.txt; done"),
        ["file_write", { path: "a.txt", contents: "A\n" }],
      ])
      lose()
      const path = `150 files that ${step_results[0]?.execution_id} changed`
      const lost = [{ path, reason: "the list of their names is lost" }]
      expect(await planned()).toMatchObject({ write: ["a.txt"], lost })
      const first = await undone()
      expect(first).toMatchObject({ restored: ["a.txt"], blocked: lost })
      room.log.append([event.sessionUndone(listsOf(first))])
      expect(await planned()).toMatchObject({ write: [], lost })
    },
  )
})

describe("a name that the log does not hold", () => {
  const name = (letter: string) => `ghp_${letter}bcdefghijklmnopqrstuvwxyz0123456789.json`
  const redacted = "[REDACTED:github-token].json"
  const reason = "its name was redacted, so the file is unknown"

  const changes: readonly (readonly [string, () => PlanStepText])[] = [
    ["is changed by a tool", () => ["file_write", { path: name("a"), contents: "A\n" }]],
    ["is made by a tool", () => ["file_create", { path: name("n"), contents: "n\n" }]],
    ["is changed by a command", () => sh(`echo A > ${name("a")}`)],
    ["is made by a command", () => sh(`echo n > ${name("n")}`)],
    ["is made, another of as much content deleted", () => sh(`mv ${name("a")} ${name("n")}`)],
  ]
  test.each(changes)("is told when it %s; the others go back", async (_, step) => {
    room = planRoom({ files: { [name("a")]: "a\n", "b.txt": "b\n" } })
    await room.run([step(), ["file_write", { path: "b.txt", contents: "B\n" }]])
    const lost = [{ path: redacted, reason }]
    expect(await planned()).toMatchObject({ lost, write: ["b.txt"], remove: [] })
    expect(await undone()).toMatchObject({ blocked: lost, restored: ["b.txt"], removed: [] })
  })

  test("is no other than a name that only looks so", async () => {
    room = planRoom({ files: { [redacted]: "a\n" } })
    await room.run([["file_write", { path: redacted, contents: "A\n" }]])
    expect(await undone()).toMatchObject({ restored: [redacted], blocked: [] })
    expect(room.read(redacted)).toBe("a\n")
  })
})

test("a session that goes on after it was undone is undone from there on", async () => {
  room = planRoom({ files: { "a.txt": "a\n", "b.txt": "b\n" } })
  await write("a.txt", "A\n")
  await write("b.txt", "B\n")
  room.log.append([event.sessionUndone(listsOf(await undone()))])
  expect(await planned()).toMatchObject({ remove: [], write: [], doubts: [], lost: [], isEmpty: true })
  room.put("a.txt", "A\n")
  await write("b.txt", "BB\n")
  expect(await undone()).toMatchObject({ restored: ["b.txt"], foreign: [] })
  // The same content as the session's, and not of the session.
  expect([room.read("a.txt"), room.read("b.txt")]).toEqual(["A\n", "b\n"])
})

test("what an undoing had to leave alone is undone by the next, once nothing is in its way", async () => {
  room = planRoom({ files: { "a.txt": "a\n", "b.txt": "b\n", "d/c.txt": "c\n" } })
  for (const name of ["a.txt", "b.txt"]) await write(name, "new\n")
  await room.call("delete_file", { paths: ["d/c.txt"] }, { isGrantedAsWritten: true })
  room.put("a.txt", "hers\n")
  rmSync(path("d"), { recursive: true })
  room.put("d", "a file where a directory was\n")
  const first = await undone()
  expect(first).toMatchObject({ foreign: ["a.txt"], blocked: [{ path: "d/c.txt" }], restored: ["b.txt"] })
  room.log.append([event.sessionUndone(listsOf(first))])
  expect(await planned()).toMatchObject({ doubts: [{ path: "a.txt" }], write: ["d/c.txt"], remove: [] })
  room.put("a.txt", "new\n")
  room.put("b.txt", "new\n")
  rmSync(path("d"))
  // The same content in another inode is somebody else's until a person says otherwise.
  const again = await planned()
  expect(again.doubts).toEqual([
    {
      path: "a.txt",
      reason: "it was written again with the same content, or its time was changed",
      isOnlyByCommand: false,
    },
  ])
  const also = new Map(again.goals.map(goal => [goal.path, goal.content]))
  const second = await undo(parts(), again, also, work => room.log.whileOwned(work))
  expect(second).toMatchObject({ restored: ["a.txt", "d/c.txt"], foreign: [], blocked: [] })
  expect(["a.txt", "b.txt", "d/c.txt"].map(room.read)).toEqual(["a\n", "new\n", "c\n"])
  room.log.append([event.sessionUndone(listsOf(second))])
  expect((await planned()).isEmpty).toBe(true)
})

test("undoing changes nothing once somebody else has the workspace", async () => {
  room = planRoom({ files: { "a.txt": "a\n" } })
  await room.run([
    ["file_write", { path: "a.txt", contents: "A\n" }],
    ["file_create", { path: "new.txt", contents: "n\n" }],
  ])
  room.log.release()
  expect(undone).toThrow(
    expect.objectContaining({ report: expect.objectContaining({ code: "ACODE-DB-007" }) }),
  )
  expect([room.read("a.txt"), room.read("new.txt")]).toEqual(["A\n", "n\n"])
})

test("undoing twice does what is left to do, so that a crash in the middle of it costs nothing", async () => {
  room = planRoom({ files: { "a.txt": "a\n", "b.txt": "b\n" } })
  await room.run([
    ["file_write", { path: "a.txt", contents: "A\n" }],
    ["file_write", { path: "b.txt", contents: "B\n" }],
  ])
  room.put("a.txt", "a\n")
  expect(await undone()).toMatchObject({ restored: ["b.txt"], foreign: [] })
  expect(await undone()).toMatchObject({ restored: [], removed: [], foreign: [], blocked: [] })
  expect([room.read("a.txt"), room.read("b.txt")]).toEqual(["a\n", "b\n"])
})
