import { afterAll, beforeAll, expect, test } from "bun:test"
import { mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync } from "node:fs"
import { join } from "node:path"
import { systemClock } from "../../src/base/clock.ts"
import { noFaults } from "../../src/base/faults.ts"
import { Failure } from "../../src/domain/failure.ts"
import { CheckpointStore } from "../../src/workspace/checkpoint/store.ts"
import { listDirectory } from "../../src/workspace/files/list-directory.ts"
import { locate } from "../../src/workspace/files/pinned-name.ts"
import { readLines } from "../../src/workspace/files/read-file.ts"
import { deleteFiles, writeFile } from "../../src/workspace/files/write-file.ts"
import { TreeReader } from "../../src/workspace/tree/reader.ts"
import { StatCache } from "../../src/workspace/tree/stat-cache.ts"
import { type TestWorkspace, testWorkspace } from "./support.ts"

let ws: TestWorkspace
let swapper: Bun.Subprocess<"ignore", "pipe", "inherit">

/** `swap` is a directory one moment and a symlink to the outside the next. */
beforeAll(async () => {
  ws = testWorkspace()
  ws.put("swap/secret.txt", "inside\n")
  ws.put("swap/below/secret.txt", "inside\n")
  mkdirSync(join(ws.outside, "below"))
  symlinkSync(ws.outside, ws.path("hidden"))
  const program = [
    process.execPath,
    Bun.fileURLToPath(import.meta.resolve("./swapper.ts")),
    ws.path("swap"),
    ws.path("hidden"),
  ]
  swapper = Bun.spawn(program, { stdin: "ignore", stdout: "pipe", stderr: "inherit" })
  for await (const _ of swapper.stdout) break
})

afterAll(async () => {
  swapper.kill("SIGKILL")
  await swapper.exited
  ws[Symbol.dispose]()
})

/** What came of one try: a word for a refusal, or whatever the operation gave. */
function attempt(operation: () => string): string {
  try {
    return operation()
  } catch (error) {
    if (error instanceof Failure) return error.report.code
    throw error
  }
}

const tries = 20_000

test(`${tries} tries to be led out by a directory that changes places with a symlink all fail`, () => {
  const operations: ((round: number) => string)[] = [
    () => readLines(ws.root, "swap/secret.txt", { bytesMax: 100 }).text,
    () => locate(ws.root, "swap/secret.txt").relative,
    () => readLines(ws.root, "swap/below/../secret.txt", { bytesMax: 100 }).text,
    () =>
      listDirectory(ws.root, { path: "swap", depth: 2, entriesMax: 50 }, () => false)
        .entries.map(entry => entry.path)
        .filter(path => path.includes("outside"))
        .join() || "listed",
    () => locate(ws.root, "hidden/secret.txt").relative,
    round =>
      round % 20 === 5 ? writeFile(ws.root, { path: "swap/new/file", content: Buffer.from("x") }).path : "-",
    round =>
      round % 20 === 6 ? writeFile(ws.root, { path: "swap/secret.txt", content: insideText }).path : "-",
    round => (round % 20 === 7 ? (deleteFiles(ws.root, ["swap/new/file"])[0]?.path ?? "") : "-"),
  ]
  const seen = new Map<string, number>()
  for (let round = 0; round < tries; round++) {
    const operation = operations[round % operations.length] ?? (() => "")
    const result = attempt(() => operation(Math.floor(round / operations.length)))
    seen.set(result, (seen.get(result) ?? 0) + 1)
  }
  const unexpected = [...seen.keys()].filter(result => !expectedResults.has(result))
  expect(unexpected).toEqual([])
  // A race that one side always wins proves nothing.
  expect(seen.get("inside\n") ?? 0).toBeGreaterThan(100)
  expect(seen.get("ACODE-SEC-005") ?? 0).toBeGreaterThan(100)
  expectOutsideUntouched()
}, 60_000)

const insideText = Buffer.from("inside\n")

const expectedResults = new Set([
  "inside\n",
  "listed",
  "-",
  "swap/secret.txt",
  "hidden/secret.txt",
  "swap/new/file",
  "hidden/new/file",
  "ACODE-SEC-005",
  "ACODE-FS-002",
  "ACODE-FS-007",
])

test("a tree and a checkpoint of it hold nothing from outside while the race continues", async () => {
  const scope = { isProtected: () => false, ownOutputs: new Set<string>(), fileBytesMax: 1e6 }
  const directory = join(ws.base, "checkpoints")
  const outsideHash = new Bun.CryptoHasher("sha256").update("OUTSIDE\n").digest("hex")
  for (let round = 0; round < 200; round++) {
    const tree = await new TreeReader(ws.root, scope, new StatCache(), systemClock).read()
    const hashes = tree.entries.map(entry => (entry.kind === "file" ? entry.sha256 : ""))
    expect(hashes).not.toContain(outsideHash)
    const store = new CheckpointStore(
      directory,
      { fileBytesMax: 1e6, totalBytesMax: 1e7 },
      systemClock,
      noFaults,
    )
    await store.takeTree(`c${round}`, ws.root, tree).catch((error: unknown) =>
      attempt(() => {
        throw error
      }),
    )
    expect(store.contents.has(outsideHash)).toBe(false)
  }
  rmSync(directory, { recursive: true, force: true })
  expectOutsideUntouched()
}, 60_000)

function expectOutsideUntouched(): void {
  expect(readdirSync(ws.outside).sort()).toEqual(["below", "secret.txt"])
  expect(readFileSync(join(ws.outside, "secret.txt"), "utf8")).toBe("OUTSIDE\n")
  expect(readdirSync(join(ws.outside, "below"))).toEqual([])
}
