import { isUtf8 } from "node:buffer"
import { chmodSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import type { Json } from "../../src/base/canonical.ts"
import { systemIds } from "../../src/base/clock.ts"
import { planUndo, undo } from "../../src/engine/undo.ts"
import { unifiedDiff } from "../../src/workspace/change/diff.ts"
import type { Random } from "../soak/random.ts"
import type { GateRoom } from "../support/plan/gate-room.ts"
import type { Sample } from "./corpus.ts"
import { difference, linesOf, type OracleDirectory, sha256Of } from "./oracle.ts"

/** Everything that writes a file, made to write one; gives a line for each byte that is not the oracle's. */
export async function writeViolations(
  room: GateRoom,
  oracle: OracleDirectory,
  sample: Sample,
  random: Random,
): Promise<string[]> {
  const path = join(room.root, "f")
  rmSync(path, { force: true })
  writeFileSync(path, sample.bytes, { mode: 0o640 })
  chmodSync(path, 0o640)
  const before = room.events().length
  return [
    ...(await changeViolations(room, oracle, sample, random)),
    ...(await undoViolations(room, sample, before)),
    ...diffViolations(oracle, sample, random),
    ...(await checkpointViolations(room, sample, random)),
  ]
}

/** An edit, a patch and a whole write, one on top of the other, each as the author of plain strings would have it. */
async function changeViolations(
  room: GateRoom,
  oracle: OracleDirectory,
  sample: Sample,
  random: Random,
): Promise<string[]> {
  const { shape, landmarks } = sample
  const found: string[] = []
  let { text } = sample
  const becomes = async (name: string, tool: string, args: Json, next: string) => {
    const path = join(room.root, "f")
    const expected = spelled(shape, readFileSync(path), next)
    const { error } = await room.call(tool, args, { isGrantedAsWritten: true })
    const wrong = error?.message.slice(0, 200) ?? difference(expected, readFileSync(path))
    if (wrong !== null) found.push(`${name}: ${wrong}`)
    text = next
  }
  const edits = landmarks.map((search, index) => ({ search, replace: `<edited ${index} é>` }))
  const edited = edits.reduce((whole, { search, replace }) => whole.replace(search, () => replace), text)
  if (edits.length > 0) await becomes("edit", "modify_file", { path: "f", edits }, edited)
  const loose = looseEdit(text, random)
  if (loose !== null)
    await becomes("loose edit", "modify_file", { path: "f", edits: [loose.edit] }, loose.after)
  const patched = changedLines(text, random)
  const patch = patched === text ? null : oracle.hunks(text, patched)
  if (patch !== null) await becomes("patch", "modify_file", { path: "f", patch }, patched)
  const written = `${text}${shape.newline()}the end é`
  await becomes("write", "write_file", { path: "f", content: written }, written)
  return found
}

/** A file keeps its encoding. An empty one has none, and one that can be read as UTF-8 is UTF-8. */
function spelled({ bom, encode, name }: Sample["shape"], before: Buffer, text: string): Buffer {
  const isPlain = name === "latin1" ? isUtf8(before) : before.length === 0
  return isPlain ? Buffer.from(text) : Buffer.concat([bom, encode(text)])
}

/** Two lines with the line ends that their author sees, which may be others than those of the file. */
function looseEdit(text: string, random: Random) {
  const lines = linesOf(text)
  const at = random.whole(lines.length)
  const old = lines.slice(at, at + 2)
  const ends = new Set(old.map(line => /\r?\n$/.exec(line)?.[0]))
  const [end = ""] = ends
  const region = old.join("")
  if (old.length < 2 || ends.size !== 1 || text.split(region).length !== 2) return null
  const written = random.oneOf(text.includes("\r\n") ? ["\n"] : ["\n", "\r\n"])
  const spelling = (lineEnd: string) => ["one", "two", "three", ""].join(lineEnd)
  const edit = { search: region.replaceAll(end, written), replace: spelling(written) }
  return { edit, after: text.replace(region, () => spelling(end)) }
}

/** Some lines changed, some added and some removed, the first and the last among them. */
function changedLines(text: string, random: Random): string {
  const lines = linesOf(text)
  const places = [0, lines.length - 1, ...Array.from({ length: 4 }, () => random.whole(lines.length))]
  for (const place of places) {
    const line = lines[place]
    if (line === undefined) continue
    const end = /\r?\n$/.exec(line)?.[0] ?? ""
    const changed = `changed ${random.whole(1_000_000)} é${end}`
    lines[place] = end === "" ? changed : random.oneOf([changed, line + changed, changed + changed, ""])
  }
  return lines.join("")
}

async function undoViolations(room: GateRoom, { bytes }: Sample, from: number): Promise<string[]> {
  const { checkpoints, workspace, log } = room
  const { sessionId } = log
  const { artifacts } = room.store
  const parts = { sessionId, checkpoints, artifacts, ids: systemIds, workspace, others: [] }
  const plan = await planUndo(parts, room.events().slice(from))
  const { blocked, foreign } = await undo(parts, plan, new Map(), work => work())
  const found = [...blocked.map(({ path, reason }) => `${path}: ${reason}`), ...foreign]
  const wrong = difference(bytes, readFileSync(join(room.root, "f")))
  if (wrong !== null) found.push(wrong)
  if ((statSync(join(room.root, "f")).mode & 0o777) !== 0o640) found.push("the mode is another")
  return found.map(problem => `undo: ${problem}`)
}

/** What is said to have changed, given to `git apply`, and counted by git. */
function diffViolations(oracle: OracleDirectory, { text }: Sample, random: Random): string[] {
  const after = changedLines(text, random)
  if (after === text) return []
  const patch = unifiedDiff("f", text, after)
  const wrong = difference(Buffer.from(after), Buffer.from(oracle.applied(text, patch)))
  const expected = oracle.counted(text, after)
  const body = linesOf(patch).filter(line => !/^(\+\+\+|---|@@|diff)/.test(line))
  const [added, removed] = ["+", "-"].map(sign => body.filter(line => line.startsWith(sign)).length)
  return [
    ...(wrong === null ? [] : [`diff: ${wrong}`]),
    ...(added === expected.added && removed === expected.removed
      ? []
      : [`diff: +${added} -${removed}, and git says +${expected.added} -${expected.removed}`]),
  ]
}

let ids = 0
const newId = () => `cal_content_${++ids}`

async function checkpointViolations(
  { checkpoints, workspace, root }: GateRoom,
  { bytes }: Sample,
  random: Random,
): Promise<string[]> {
  const path = join(root, "f")
  const found: string[] = []
  const takes = {
    files: () => checkpoints.takeFiles(newId(), ["f"]),
    tree: async () => checkpoints.takeTree(newId(), await workspace.tree()),
  }
  for (const [scope, take] of Object.entries(takes)) {
    writeFileSync(path, bytes)
    const taken = await take()
    const { uncovered } = taken.checkpoint
    if (uncovered.size > 0) {
      found.push(`checkpoint of ${scope}: ${JSON.stringify([...uncovered])}`)
      continue
    }
    const kept = difference(bytes, checkpoints.contentOf(sha256Of(bytes)))
    if (kept !== null) found.push(`checkpoint of ${scope}: ${kept}`)
    random.oneOf([
      () => rmSync(path),
      () => truncateSync(path, bytes.length >> 1),
      () => writeFileSync(path, "x"),
    ])()
    const loaded = checkpoints.load(taken.checkpoint.id)
    if (loaded === null) found.push(`checkpoint of ${scope}: it cannot be loaded`)
    else {
      const now = await checkpoints.contentsAt(["f"])
      const goal = { checkpoint: loaded, expected: new Map([["f", now.get("f") ?? null]]) }
      const about = { kind: "undo" as const, sessionId: null, subjectId: null }
      await checkpoints.restore([goal], { id: newId(), about }, work => work())
    }
    const wrong = difference(bytes, readFileSync(path))
    if (wrong !== null) found.push(`restore of ${scope}: ${wrong}`)
  }
  return found
}
