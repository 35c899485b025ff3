import { describe, expect, test } from "bun:test"
import fc from "fast-check"
import { sha256Hex } from "../../src/base/canonical.ts"
import { type CaptureLimits, createCapture } from "../../src/exec/capture.ts"
import type { Redactor } from "../../src/redaction/contract.ts"
import { createRedactor } from "../../src/redaction/redactor.ts"

const KiB = 1024
const secret = "hunter2-hunter2-hunter2"
const redactor = createRedactor({ secretValues: [secret], extraPatterns: [] })
const limits: CaptureLimits = { outputBytesMax: 64 * KiB, artifactBytesMax: 256 * KiB }

function captured(
  chunks: readonly (string | Uint8Array)[],
  more: Partial<CaptureLimits> = {},
  by: Redactor = redactor,
) {
  const capture = createCapture({ ...limits, ...more })
  for (const chunk of chunks) capture.add(typeof chunk === "string" ? Buffer.from(chunk) : chunk)
  return capture.finish(by)
}

/** Numbered lines of 16 bytes, so that every place can be told. */
function lines(count: number): string {
  return Array.from({ length: count }, (_, index) => `line ${String(index).padStart(10, "0")}\n`).join("")
}

function inChunks(bytes: Uint8Array, size: number): Uint8Array[] {
  return Array.from({ length: Math.ceil(bytes.length / size) }, (_, index) =>
    bytes.subarray(index * size, (index + 1) * size),
  )
}

describe("output that fits into the result", () => {
  test("is text and nothing else", () => {
    expect(captured(["hello ", "world\n"])).toEqual({
      text: "hello world\n",
      truncation: null,
      artifact: null,
    })
    expect(captured([])).toEqual({ text: "", truncation: null, artifact: null })
  })

  test("is joined from characters that were split over chunks", () => {
    const bytes = Buffer.from("日本語 \u{1f600}")
    expect(captured(inChunks(bytes, 1)).text).toBe("日本語 \u{1f600}")
  })

  test("keeps a byte order mark and NUL bytes", () => {
    expect(captured(["\ufeffa\0b"])).toEqual({ text: "\ufeffa\0b", truncation: null, artifact: null })
  })

  test("may be exactly as long as the limit", () => {
    expect(captured(["x".repeat(64 * KiB)])).toMatchObject({ truncation: null })
  })
})

describe("output that is too long for the result", () => {
  const text = lines(8 * KiB)

  test("keeps its head and tail, its true size and the hash of all of it", () => {
    const { text: shown, truncation } = captured(inChunks(Buffer.from(text), 1000))
    expect(truncation).toMatchObject({
      originalBytes: 128 * KiB,
      keptBytes: 64 * KiB,
      sha256: sha256Hex(text),
    })
    expect(shown).toBe(
      `${text.slice(0, 32 * KiB)}[OUTPUT TRUNCATED: 65536 bytes omitted]\n${text.slice(-32 * KiB)}`,
    )
  })

  test("is whole in the artifact while it fits there", () => {
    const { truncation, artifact } = captured([text])
    expect(Buffer.from(artifact?.bytes ?? []).toString()).toBe(text)
    expect(artifact?.ref).toBe(`sha256:${sha256Hex(text)}`)
    expect(truncation?.artifact).toBe(artifact?.ref ?? null)
  })

  test("has no artifact when none is wanted", () => {
    const { truncation, artifact } = captured([text], { artifactBytesMax: 0 })
    expect(artifact).toBeNull()
    expect(truncation).toMatchObject({ artifact: null, originalBytes: 128 * KiB, keptBytes: 64 * KiB })
  })
})

describe("output that is too long for the artifact as well", () => {
  const text = lines(64 * KiB)

  test("has head and tail in the artifact, with a line that says how much is missing", () => {
    const { truncation, artifact } = captured(inChunks(Buffer.from(text), 65_536))
    const missing = 1024 * KiB - 256 * KiB
    expect(Buffer.from(artifact?.bytes ?? []).toString()).toBe(
      `${text.slice(0, 128 * KiB)}[OUTPUT TRUNCATED: ${missing} bytes omitted]\n${text.slice(-128 * KiB)}`,
    )
    expect(truncation).toMatchObject({
      originalBytes: 1024 * KiB,
      keptBytes: 64 * KiB,
      sha256: sha256Hex(text),
    })
  })

  test("is the same however it was cut into chunks", () => {
    const bytes = Buffer.from(text)
    const expected = captured([bytes])
    for (const size of [7, 4095, 4096, 65_536, 100_000])
      expect(captured(inChunks(bytes, size))).toEqual(expected)
  })

  test("may be one line without end", () => {
    const { text: shown, truncation } = captured(inChunks(Buffer.alloc(3_000_000, "x"), 65_536))
    expect(truncation).toMatchObject({ originalBytes: 3_000_000, keptBytes: 64 * KiB })
    expect(shown).toMatch(/^x+\n\[OUTPUT TRUNCATED: 2934464 bytes omitted\]\nx+$/)
  })
})

describe("bytes that are no text", () => {
  test("are kept as an artifact and shown as well as they can be", () => {
    const bytes = new Uint8Array([0x61, 0xff, 0xfe, 0x62])
    const { text, truncation, artifact } = captured([bytes])
    expect(text).toBe("a\ufffd\ufffdb")
    expect(truncation).toBeNull()
    expect(artifact?.bytes).toEqual(Buffer.from(bytes))
    expect(artifact?.ref).toBe(`sha256:${sha256Hex(bytes)}`)
  })

  test("include a character that was cut off by the end of the program", () => {
    expect(captured([Buffer.from("é").subarray(0, 1)])).toMatchObject({
      text: "\ufffd",
      artifact: expect.anything(),
    })
  })

  test("survive byte for byte, all 256 of them", () => {
    const bytes = Uint8Array.from({ length: 4096 }, (_, index) => index % 256)
    expect(Buffer.from(captured(inChunks(bytes, 100)).artifact?.bytes ?? []).equals(Buffer.from(bytes))).toBe(
      true,
    )
  })
})

describe("secrets", () => {
  test("are replaced in the text and in the artifact, and not before they are hashed", () => {
    const raw = `start ${secret} end\n${lines(8 * KiB)}`
    const { text, truncation, artifact } = captured([raw])
    expect(text).toStartWith("start [REDACTED:environment] end\n")
    expect(Buffer.from(artifact?.bytes ?? []).toString()).not.toContain(secret)
    expect(truncation?.sha256).toBe(sha256Hex(raw))
  })

  test("are found where two chunks meet", () => {
    const bytes = Buffer.from(`a ${secret} b`)
    expect(captured(inChunks(bytes, 5)).text).toBe("a [REDACTED:environment] b")
  })

  test("do not survive in part at the edge of the gap, wherever it falls", () => {
    // The gap opens 16 KiB behind the first 128 KiB and closes as far before the last; the secret is put across both.
    const filler = lines(64 * KiB)
    for (const edge of [
      (128 + 16) * KiB,
      128 * KiB,
      filler.length - (128 + 16) * KiB,
      filler.length - 128 * KiB,
    ])
      for (const shift of [0, 1, 11, 22, secret.length]) {
        const at = edge - shift
        const raw = filler.slice(0, at) + secret + filler.slice(at + secret.length)
        const { text, artifact } = captured([raw])
        const stored = Buffer.from(artifact?.bytes ?? []).toString()
        for (const part of [secret, "hunter2", "-hunte"]) {
          expect(stored).not.toContain(part)
          expect(text).not.toContain(part)
        }
        expect(stored.replaceAll("[REDACTED:environment]", "")).not.toMatch(/REDACTED|environment\]/)
      }
  })

  test("do not survive in part where the result is cut", () => {
    const filler = lines(8 * KiB)
    for (let shift = 0; shift <= secret.length; shift++) {
      const at = 32 * KiB - shift
      const { text } = captured([filler.slice(0, at) + secret + filler.slice(at + secret.length)])
      expect(text).not.toContain("hunter2")
      expect(text.replaceAll("[REDACTED:environment]", "")).not.toContain("REDACTED")
    }
  })

  test("that make the output longer or shorter leave the sizes consistent", () => {
    const many = fc.integer({ min: 1000, max: 12_000 })
    fc.assert(
      fc.property(many, count => {
        const raw = `${secret} x\n`.repeat(count)
        const { text, truncation } = captured([raw])
        if (truncation === null) return expect(Buffer.byteLength(text)).toBeLessThanOrEqual(64 * KiB)
        expect(truncation.originalBytes).toBe(raw.length)
        expect(truncation.keptBytes).toBeGreaterThan(0)
        expect(truncation.keptBytes).toBeLessThan(raw.length)
        expect(text).toContain(`[OUTPUT TRUNCATED: ${raw.length - truncation.keptBytes} bytes omitted]`)
      }),
      { numRuns: 20 },
    )
  })
})

test("a limit on the result above the one on artifacts is honoured", () => {
  const text = lines(32 * KiB)
  expect(captured([text], { outputBytesMax: 1024 * KiB, artifactBytesMax: 16 * KiB })).toEqual({
    text,
    truncation: null,
    artifact: null,
  })
})

test("the middle of a long output is let go", () => {
  const capture = createCapture({ outputBytesMax: 64 * KiB, artifactBytesMax: 64 * KiB })
  // One chunk again and again: the garbage of 4,000 would be the runtime's to collect, and its size to guess.
  const chunk = new Uint8Array(64 * KiB).fill(0x78)
  const before = process.memoryUsage.rss()
  for (let count = 0; count < 4000; count++) capture.add(chunk)
  expect(process.memoryUsage.rss() - before).toBeLessThan(64 * 1024 * KiB)
  expect(capture.finish(redactor).truncation?.originalBytes).toBe(4000 * 64 * KiB)
})
