import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { createCapture } from "../../src/exec/capture.ts"
import { createRedactor } from "../../src/redaction/redactor.ts"
import { seededRandom } from "../soak/random.ts"
import { runAcode } from "../support/acode.ts"
import type { GateRoom } from "../support/plan/gate-room.ts"
import { missingProgram, testWhere } from "../support/requirement.ts"
import { tempWorkspace } from "../support/workspace/temp-workspace.ts"
import { largeSizes, sampleOf, shapesOf, smallSizes } from "./corpus.ts"
import { difference, OracleDirectory, sha256Of } from "./oracle.ts"
import { readViolations } from "./read-checks.ts"
import { contentRoom } from "./room.ts"
import { writeViolations } from "./write-checks.ts"

const gitTest = testWhere(missingProgram("git"))
let room: GateRoom
let oracle: OracleDirectory
beforeAll(() => {
  room = contentRoom()
  oracle = new OracleDirectory()
})
afterAll(() => {
  room[Symbol.dispose]()
  oracle[Symbol.dispose]()
})

/** A part of all shapes at all sizes, which `npm run soak -- --only contents` goes through. */
const slice = shapesOf().flatMap((shape, index) => {
  const few = smallSizes.filter((_, at) => at % 3 === index % 3)
  const [large = 0, largest = 0] = largeSizes
  return [...few, ...(index % 4 === 1 ? [large] : []), ...(index === 2 ? [largest] : [])].map(size => ({
    name: `${shape.name}, ${size} bytes`,
    shape,
    size,
  }))
})

describe("a file is read and written as plain strings and other programs have it", () => {
  gitTest.each(slice)("$name", async ({ shape, size }) => {
    const random = seededRandom(size)
    const sample = sampleOf(shape, size, random)
    expect(await readViolations(room, oracle, sample, random)).toEqual([])
    expect(await writeViolations(room, oracle, sample, random)).toEqual([])
  })
})

test("acode redact passes ten megabytes through a pipe and replaces every secret in them", async () => {
  using workspace = tempWorkspace()
  const secret = "correct-horse-battery"
  const filling = "the quick brown fox jumps over the lazy dog\u{1f600}\r\n"
  const text = Array.from({ length: 160 }, (_, index) => filling.repeat(1_300 + index) + secret).join("")
  const { exitCode, stdout } = await runAcode(["redact"], {
    cwd: workspace.root,
    env: { ...workspace.environment, MY_TOKEN: secret },
    stdin: text,
  })
  expect(exitCode).toBe(0)
  const expected = Buffer.from(text.replaceAll(secret, "[REDACTED:environment]"))
  expect(difference(expected, Buffer.from(stdout))).toBeNull()
})

test("output that comes in one buffer, again and again, is kept as it was", () => {
  const text = Array.from({ length: 30_000 }, (_, index) => `${index} grün €\n`).join("")
  const bytes = Buffer.from(text)
  for (const outputBytesMax of [bytes.length, 100_000]) {
    const capture = createCapture({ outputBytesMax, artifactBytesMax: 0 })
    const buffer = new Uint8Array(65_536)
    for (let at = 0; at < bytes.length; at += buffer.length) {
      const chunk = buffer.subarray(0, Math.min(buffer.length, bytes.length - at))
      chunk.set(bytes.subarray(at, at + chunk.length))
      capture.add(chunk)
    }
    const { text: kept, truncation } = capture.finish(createRedactor({ secretValues: [], extraPatterns: [] }))
    if (truncation === null) expect(kept).toBe(text)
    else {
      expect(truncation.sha256).toBe(sha256Of(bytes))
      const [head = "", tail = ""] = kept.split(/\n?\[OUTPUT TRUNCATED: \d+ bytes omitted\]\n/)
      expect([text.startsWith(head), text.endsWith(tail), Buffer.byteLength(head + tail) > 99_000]).toEqual([
        true,
        true,
        true,
      ])
    }
  }
})

describe("what cannot be changed without a loss is refused before anything is", () => {
  test("UTF-16 that ends with half a character", async () => {
    const bytes = Buffer.concat([Buffer.from("\ufeffone\ntwo\n", "utf16le"), Buffer.from([0x41])])
    room.temp.write("half.txt", bytes)
    const edits = [{ search: "one", replace: "eins" }]
    const called = await room.call("modify_file", { path: "half.txt", edits }, { isGrantedAsWritten: true })
    expect(called.error?.code).toBe("ACODE-FS-009")
    expect(readFileSync(join(room.root, "half.txt"))).toEqual(bytes)
    const shown = room.workspace.readLines("half.txt", { bytesMax: 1_000 })
    expect(shown.text).toBe("one\ntwo\n\ufffd")
  })

  test("a new character in a file that is UTF-8 but for one byte", async () => {
    const before = Buffer.concat([Buffer.from("grün €\nplain\n"), Buffer.from([0xff, 0x0a])])
    const path = join(room.root, "mixed.txt")
    room.temp.write("mixed.txt", before)
    const edit = (search: string, replace: string) =>
      room.call(
        "modify_file",
        { path: "mixed.txt", edits: [{ search, replace }] },
        { isGrantedAsWritten: true },
      )
    expect((await edit("plain", "schön")).error?.code).toBe("ACODE-FS-009")
    expect(readFileSync(path)).toEqual(before)
    expect((await edit("plain", "simple")).error).toBeNull()
    expect(readFileSync(path, "latin1")).toBe(before.toString("latin1").replace("plain", "simple"))
    const whole = { path: "mixed.txt", content: "schön €\n" }
    expect((await room.call("write_file", whole, { isGrantedAsWritten: true })).error).toBeNull()
    expect(readFileSync(path, "utf8")).toBe("schön €\n")
  })

  test("a file that is larger than a tool takes", async () => {
    room.temp.write("large.txt", Buffer.alloc(room.parts.room.limits.editBytesMax + 1, "a\n"))
    const edits = [{ search: "b", replace: "c" }]
    const called = await room.call("modify_file", { path: "large.txt", edits }, { isGrantedAsWritten: true })
    expect([called.error?.code, called.certainty]).toEqual(["ACODE-FS-006", "notDone"])
  })
})

test("a file of millions of empty lines is edited, patched and compared", async () => {
  const text = "\n".repeat(5_000_000)
  room.temp.write("empty-lines.txt", `${text}last\n`)
  const granted = { isGrantedAsWritten: true }
  const patch = "@@ -5000000,2 +5000000,2 @@\n \n-last\n+changed\n"
  const patched = await room.call("modify_file", { path: "empty-lines.txt", patch }, granted)
  expect(patched.error).toBeNull()
  const edits = [{ search: "changed", replace: "edited" }]
  expect((await room.call("modify_file", { path: "empty-lines.txt", edits }, granted)).error).toBeNull()
  const left = readFileSync(join(room.root, "empty-lines.txt"), "utf8")
  expect([left.length, left.slice(-8)]).toEqual([text.length + 7, "\nedited\n"])
  const { parts } = room
  const [hunk] = parts.room.changes.diffTexts(left, left.replace("edited", "more"))
  expect([hunk?.oldStart, hunk?.oldCount, hunk?.newCount]).toEqual([4_999_998, 4, 4])
})
