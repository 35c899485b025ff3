import { afterEach, beforeEach, expect, test } from "bun:test"
import { existsSync, readdirSync } from "node:fs"
import { systemClock } from "../../src/base/clock.ts"
import { noFaults } from "../../src/base/faults.ts"
import { Failure } from "../../src/domain/failure.ts"
import { type OpenWorkspace, openWorkspace } from "../../src/workspace/workspace.ts"
import { codeOf, type TestWorkspace, testWorkspace } from "./support.ts"

let ws: TestWorkspace
let open: OpenWorkspace

beforeEach(() => {
  ws = testWorkspace()
  open = openTestWorkspace()
})
afterEach(() => {
  open.workspace[Symbol.dispose]()
  ws[Symbol.dispose]()
})

const isSecret = (path: string) => path === ".env" || path.startsWith("secrets")

function openTestWorkspace(): OpenWorkspace {
  return openWorkspace({
    directory: ws.root.path,
    checkpointDirectory: ws.path(".agent/checkpoints"),
    checkpointLimits: { fileBytesMax: 1e6, totalBytesMax: 1e7 },
    guard: path => {
      if (isSecret(path))
        throw new Failure({ kind: "denied", code: "ACODE-SEC-003", message: `${path} is protected` })
    },
    isHidden: isSecret,
    isProtected: isSecret,
    ownOutputs: new Set(),
    ripgrep: null,
    clock: systemClock,
    faults: noFaults,
  })
}

const keeping = { id: "chk_1", about: { kind: "undo" as const, sessionId: null, subjectId: null } }

test("an edit keeps encoding, byte order mark and line ends, and insists on what was read", () => {
  const { workspace } = open
  ws.put("file.txt", Buffer.from("\ufeffgrün\r\nrot\r\n", "utf16le"))
  const read = workspace.readText("file.txt", 1000)
  const content = workspace.encode(read.text.replace("rot", "blau"), read.format, read.path)
  workspace.write({ path: "file.txt", content, expected: read.sha256 })
  expect(Buffer.from(workspace.readBytes("file.txt", 1000).bytes).toString("utf16le")).toBe(
    "\ufeffgrün\r\nblau\r\n",
  )
  expect(codeOf(() => workspace.write({ path: "file.txt", content, expected: read.sha256 }))).toBe(
    "ACODE-FS-007",
  )
})

test("a character that the file's encoding lacks is reported, not lost", () => {
  const format = { encoding: "latin1", bom: false } as const
  expect(codeOf(() => open.workspace.encode("日", format, "f"))).toBe("ACODE-FS-009")
})

test("protected paths are not read, written, deleted, listed, found or kept", async () => {
  const { workspace, checkpoints } = open
  ws.put(".env", "SECRET=needle\n")
  ws.put("secrets/key", "needle\n")
  ws.put("plain", "needle\n")
  expect(codeOf(() => workspace.readLines(".env", { bytesMax: 10 }))).toBe("ACODE-SEC-003")
  expect(codeOf(() => workspace.write({ path: "secrets/new", content: Buffer.from("x") }))).toBe(
    "ACODE-SEC-003",
  )
  expect(codeOf(() => workspace.delete([".env"]))).toBe("ACODE-SEC-003")
  expect(codeOf(() => workspace.list({ path: "secrets", depth: 1, entriesMax: 9 }))).toBe("ACODE-SEC-003")
  const listing = workspace.list({ path: ".", depth: 3, entriesMax: 99 })
  expect(listing.entries.map(entry => entry.path)).toEqual(["plain"])
  expect(workspace.glob({ pattern: "**", path: ".", matchesMax: 9 }).paths).toEqual(["plain"])
  const found = await workspace.search({ pattern: "needle", path: ".", matchesMax: 9, timeoutMs: 1000 })
  expect(found.rows.map(row => row.file_path)).toEqual(["plain"])
  expect((await workspace.tree()).entries.map(entry => entry.path)).toEqual(["plain"])
  await checkpoints.takeTree("c1", await workspace.tree())
  expect(checkpoints.load("c1")?.entries.size).toBe(1)
})

test("a run can be taken back: checkpoint, changes, preview, restore", async () => {
  const { workspace, checkpoints } = open
  ws.put("a", "1")
  const before = await workspace.tree()
  await checkpoints.takeTree("c1", before)
  workspace.write({ path: "a", content: Buffer.from("2") })
  workspace.write({ path: "b/c", content: Buffer.from("2") })
  const checkpoint = checkpoints.load("c1")
  if (checkpoint === null) throw new Error("it was taken")
  expect(checkpoints.changesSince(checkpoint, await workspace.tree())).toEqual({
    added: ["b/c"],
    changed: ["a"],
    removed: [],
  })
  const goals = [{ checkpoint, expected: checkpoints.contentsSince(checkpoint, await workspace.tree()) }]
  expect((await checkpoints.plan(goals)).remove).toEqual(["b/c"])
  expect(await checkpoints.restore(goals, keeping, work => work())).toMatchObject({
    foreign: [],
    blocked: [],
    keptId: "chk_1",
  })
  expect((await workspace.tree()).digest).toBe(before.digest)
  expect(existsSync(ws.path("b"))).toBe(false)
  expect(checkpoints.list().map(({ id }) => id)).toEqual(["c1", "chk_1"])
  expect(checkpoints.collect(checkpoints.ids()).removed.toSorted()).toEqual(["c1", "chk_1"])
})

test("some files can be taken back, and what was left behind removed", async () => {
  const { workspace, checkpoints } = open
  ws.put("a", "1")
  const taken = await checkpoints.takeFiles("f1", ["a", "new"])
  workspace.delete(["a"])
  workspace.write({ path: "new", content: Buffer.from("x") })
  ws.put(`.acode-${"0".repeat(32)}.tmp~`, "torn")
  expect(workspace.removeLeftovers(".")).toHaveLength(1)
  const expected = new Map(
    [...(await checkpoints.contentsAt(["a", "new"]))].map(([path, now]) => [path, now ?? null]),
  )
  await checkpoints.restore([{ checkpoint: taken.checkpoint, expected }], keeping, work => work())
  expect(readdirSync(ws.root.path).sort()).toEqual([".agent", "a"])
  expect(workspace.locate("a")).toEqual({ relative: "a", kind: "file" })
})

test("hashes are remembered from one opening to the next", async () => {
  ws.put("a", "1")
  await open.checkpoints.takeTree("c1", await open.workspace.tree())
  expect(readdirSync(ws.path(".agent/checkpoints")).sort()).toEqual(["contents", "manifests", "stat-cache"])
  using again = openTestWorkspace().workspace
  expect((await again.tree()).digest).toBe((await open.workspace.tree()).digest)
  expect(again.path).toBe(ws.root.path)
})
