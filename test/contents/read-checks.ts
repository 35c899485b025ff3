import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { systemClock } from "../../src/base/clock.ts"
import { createRedactor } from "../../src/redaction/redactor.ts"
import type { RunProgram } from "../../src/workspace/contract.ts"
import { WorkspaceRoot } from "../../src/workspace/files/root.ts"
import { searchFiles } from "../../src/workspace/search/search.ts"
import type { Random } from "../soak/random.ts"
import type { GateRoom } from "../support/plan/gate-room.ts"
import type { Sample } from "./corpus.ts"
import { difference, linesOf, type OracleDirectory, sha256Of } from "./oracle.ts"

/** Everything that reads a file, asked about one; gives a line for each answer that is not the oracle's. */
export async function readViolations(
  room: GateRoom,
  oracle: OracleDirectory,
  sample: Sample,
  random: Random,
): Promise<string[]> {
  writeFileSync(join(room.root, "f"), sample.bytes)
  return [
    ...wholeViolations(room, sample),
    ...(await windowViolations(room, sample, random)),
    ...(await treeViolations(room, sample, random)),
    ...(await searchViolations(room, oracle, sample)),
    ...artifactViolations(room, sample),
    ...streamViolations(sample, random),
  ]
}

function wholeViolations({ workspace }: GateRoom, { bytes, text, shape }: Sample): string[] {
  const found: string[] = []
  const whole = workspace.readBytes("f", bytes.length)
  const wrong = difference(bytes, whole.bytes)
  if (wrong !== null) found.push(`readBytes: ${wrong}`)
  if (whole.sha256 !== sha256Of(bytes)) found.push("readBytes: the hash is another")
  const read = workspace.readText("f", bytes.length)
  const otherText = difference(Buffer.from(text), Buffer.from(read.text))
  if (otherText !== null) found.push(`readText: ${otherText}`)
  if (read.sha256 !== sha256Of(bytes)) found.push("readText: the hash is another")
  const back = workspace.encode(read.text, read.format, "f")
  const otherBytes = difference(bytes, back)
  if (otherBytes !== null) found.push(`encode (${shape.name}): ${otherBytes}`)
  return found
}

/** By the tool, which redacts, and below it, which does not. */
async function windowViolations(room: GateRoom, { text, bytes }: Sample, random: Random): Promise<string[]> {
  const found: string[] = []
  const lines = linesOf(text)
  const at = () => 1 + random.whole(lines.length + 1)
  const windows = [
    [1, lines.length + 1],
    [lines.length, 1],
    [at(), 1],
    [at(), 1 + random.whole(5)],
    [at(), 1 + random.whole(3_000)],
  ] as const
  for (const [fromLine, lineCount] of windows.filter(([from]) => from > 0)) {
    const expected = lines.slice(fromLine - 1, fromLine - 1 + lineCount).join("")
    const read = room.workspace.readLines("f", { fromLine, lineCount, bytesMax: 64 * 1024 * 1024 })
    const name = `lines ${fromLine} + ${lineCount}`
    const wrong = difference(Buffer.from(expected), Buffer.from(read.text))
    if (wrong !== null) found.push(`${name}: ${wrong}`)
    if (read.sha256 !== sha256Of(bytes) || read.totalLines !== lines.length)
      found.push(`${name}: ${read.totalLines} lines in all instead of ${lines.length}, or another hash`)
    const called = await room.call("read_file", { path: "f", from_line: fromLine, line_count: lineCount })
    const shown = recordOf(called.value)["content"]
    if (shown !== expected)
      found.push(`read_file, ${name}: ${String(called.error?.message ?? "another text")}`)
  }
  return found
}

/** One byte more or less anywhere is another tree. */
async function treeViolations(
  { workspace, root }: GateRoom,
  { bytes }: Sample,
  random: Random,
): Promise<string[]> {
  const path = join(root, "f")
  const digestOf = async (content: Uint8Array): Promise<string> => {
    writeFileSync(path, content)
    const { digest, entries } = await workspace.tree()
    const entry = entries.find(each => each.path === "f")
    if (entry?.kind !== "file" || entry.sha256 !== sha256Of(content)) found.push("tree: the hash is another")
    return digest
  }
  const found: string[] = []
  const first = await digestOf(bytes)
  const places = [0, 65_535, 65_536, 131_071, 131_072, bytes.length - 1].filter(
    at => at >= 0 && at < bytes.length,
  )
  if (places.length > 0) {
    const flipped = Buffer.from(bytes)
    const at = random.oneOf(places)
    flipped[at] = (flipped[at] ?? 0) ^ 1
    if ((await digestOf(flipped)) === first) found.push(`tree: byte ${at} makes no difference`)
  }
  if ((await digestOf(bytes)) !== first) found.push("tree: the same content has two digests")
  return found
}

const runDirectly: RunProgram = async (argv, { cwd }) => {
  const { exitCode, stdout } = Bun.spawnSync([...argv], { cwd, stdin: "ignore", stderr: "ignore" })
  return { exitCode, stdout, truncated: false }
}

/** What both engines find, and what `grep` finds in the same text. */
async function searchViolations(room: GateRoom, oracle: OracleDirectory, sample: Sample): Promise<string[]> {
  const found: string[] = []
  const program = Bun.which("rg")
  using root = new WorkspaceRoot(room.root, () => undefined)
  const engines = [{}, ...(program === null ? [] : [{ ripgrep: { program, run: runDirectly } }])]
  for (const wanted of [
    "mark 2>",
    "quick brown fox jumps over the lazy dog and then some, until",
    "nowhere",
  ]) {
    const expected = oracle.found(sample.text, wanted)
    for (const engine of engines) {
      const { rows } = await searchFiles(
        root,
        { pattern: wanted, path: "f", matchesMax: 1_000_000, timeoutMs: 60_000 },
        { clock: systemClock, isHidden: () => false, ...engine },
      )
      const name = `search for ${wanted} ${"ripgrep" in engine ? "with ripgrep" : "by reading"}`
      const numbers = rows.map(row => row.line_number)
      if (!Bun.deepEquals(numbers, expected))
        found.push(`${name}: ${numbers.length} lines instead of ${expected.length}`)
      const lines = linesOf(sample.text)
      const other = rows.find(row => {
        const line = (lines[row.line_number - 1] ?? "").replace(/\r?\n$/, "")
        return row.line === "" || !line.startsWith(row.line)
      })
      if (other !== undefined) found.push(`${name}: line ${other.line_number} is shown otherwise`)
    }
  }
  return found
}

function artifactViolations({ store, temp }: GateRoom, { bytes }: Sample): string[] {
  const ref = store.artifacts.put(bytes)
  const hash = ref.replace("sha256:", "")
  const kept = readFileSync(temp.state("artifacts", hash.slice(0, 2), hash.slice(2)))
  const wrong = difference(bytes, store.artifacts.get(ref) ?? new Uint8Array())
  return [
    ...(hash === sha256Of(kept) ? [] : ["artifact: it is not named by the hash of what is stored"]),
    ...(wrong === null ? [] : [`artifact: ${wrong}`]),
  ]
}

const secret = "correct-horse-battery"
const marker = "[REDACTED:environment]"

/** A known value in the place of each landmark; chunks come in one buffer that is filled again, as from a pipe. */
function streamViolations(sample: Sample, random: Random): string[] {
  const redactor = createRedactor({ secretValues: [secret], extraPatterns: [] })
  const text = sample.landmarks.reduce(
    (whole, mark) => whole.replace(mark, () => `${mark}${secret}`),
    sample.text,
  )
  const [given, expected] = [text, text.replaceAll(secret, marker)].map(each => Buffer.from(each))
  if (given === undefined || expected === undefined) return []
  const stream = redactor.stream()
  const buffer = new Uint8Array(random.oneOf([1_000, 65_535, 65_536, 131_072]))
  const pieces: Uint8Array[] = []
  for (let at = 0; at < given.length; at += buffer.length) {
    const chunk = buffer.subarray(0, Math.min(buffer.length, given.length - at))
    chunk.set(given.subarray(at, at + chunk.length))
    // Copied at once, as a writer does: what was given back is promised until the next push only.
    pieces.push(new Uint8Array(stream.push(chunk)))
  }
  pieces.push(stream.end())
  const ways = {
    stream: Buffer.concat(pieces),
    redactBytes: redactor.redactBytes(given),
    redactText: Buffer.from(redactor.redactText(text)),
  }
  return Object.entries(ways).flatMap(([name, result]) => {
    const wrong = difference(expected, result)
    return wrong === null ? [] : [`${name} in chunks of ${buffer.length}: ${wrong}`]
  })
}

function recordOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null ? { ...value } : {}
}
