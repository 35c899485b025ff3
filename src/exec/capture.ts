import { isUtf8 } from "node:buffer"
import { sha256Hex } from "../base/canonical.ts"
import type { TruncatedStream } from "../domain/command-result.ts"
import type { Redactor } from "../policy/contract.ts"
import { ByteWindow } from "./byte-window.ts"
import { cutOutput, type KeptOutput, safeEnd, safeStart } from "./cut.ts"

/** One output stream of a process, however much of it there is. */
export interface Capture {
  add(chunk: Uint8Array): void
  /** Redacts what was kept, once, and gives what stands in the result. Call it after the last `add`. */
  finish(redactor: Redactor): CapturedStream
}

export interface CapturedStream {
  readonly text: string
  readonly truncation: TruncatedStream | null
  readonly artifact: Artifact | null
}

export interface Artifact {
  readonly ref: string
  readonly bytes: Uint8Array
}

export interface CaptureLimits {
  /** How many bytes stand in the result. */
  readonly outputBytesMax: number
  /** How many are kept as an artifact when the result cannot carry them; 0 keeps none. */
  readonly artifactBytesMax: number
}

/**
 * Bytes kept beyond each edge of a gap. They are redacted with the rest and then thrown away, so that a secret that
 * lies across the edge is recognised whole. No secret is longer than this.
 */
const marginBytes = 16 * 1024

export const nothingCaptured: CapturedStream = { text: "", truncation: null, artifact: null }

/** Keeps the head and the tail, the true size and the hash of all of it; the middle of a long stream is let go. */
export function createCapture(limits: CaptureLimits): Capture {
  const edgeBytes = Math.ceil(Math.max(limits.outputBytesMax, limits.artifactBytesMax) / 2) + marginBytes
  const head = new ByteWindow(edgeBytes)
  const tail = new ByteWindow(edgeBytes)
  const hasher = new Bun.CryptoHasher("sha256")
  let originalBytes = 0

  return {
    add: chunk => {
      originalBytes += chunk.length
      hasher.update(chunk)
      const room = edgeBytes - head.bytes
      if (room > 0) head.push(chunk.subarray(0, room))
      if (room >= chunk.length) return
      tail.push(chunk.subarray(Math.max(0, room)))
    },
    finish: redactor => {
      const gapBytes = Math.max(0, originalBytes - head.bytes - edgeBytes)
      const kept =
        gapBytes > 0
          ? redactedEdges(head.take(), gapBytes, tail.take(), redactor)
          : { head: redactor.redactBytes(joined(head.take(), tail.take())), gapBytes, tail: none }
      return captured(kept, originalBytes, () => hasher.digest("hex"), limits)
    },
  }
}

const none = new Uint8Array(0)

function joined(head: Uint8Array, tail: Uint8Array): Uint8Array {
  return tail.length === 0 ? head : Buffer.concat([head, tail])
}

/**
 * Redacts both edges and cuts the margins off. A secret that the gap cut through is still there, unrecognised, at the
 * very edge, and being shorter than the margin it goes with it.
 */
function redactedEdges(head: Uint8Array, gapBytes: number, tail: Uint8Array, redactor: Redactor): KeptOutput {
  const [before = none, after = none] = redactor.redactParts([head, tail])
  const end = safeEnd(before, Math.max(0, before.length - marginBytes))
  const start = safeStart(after, Math.min(after.length, marginBytes))
  return {
    head: before.subarray(0, end),
    gapBytes: gapBytes + (before.length - end) + start,
    tail: after.subarray(start),
  }
}

function captured(
  kept: KeptOutput,
  originalBytes: number,
  digest: () => string,
  { outputBytesMax, artifactBytesMax }: CaptureLimits,
): CapturedStream {
  const shown = cutOutput(kept, outputBytesMax)
  const isWhole = shown.omittedBytes === 0
  const artifact = isWhole && isUtf8(shown.bytes) ? null : artifactOf(kept, artifactBytesMax)
  // The mark at the beginning of a file belongs to the output; a decoder would drop it by default.
  const text = new TextDecoder("utf-8", { ignoreBOM: true }).decode(shown.bytes)
  if (isWhole) return { text, truncation: null, artifact }
  const keptBytes = Math.max(0, originalBytes - shown.omittedBytes)
  return {
    text,
    truncation: { originalBytes, keptBytes, sha256: digest(), artifact: artifact?.ref ?? null },
    artifact,
  }
}

function artifactOf(kept: KeptOutput, bytesMax: number): Artifact | null {
  if (bytesMax === 0) return null
  const { bytes } = cutOutput(kept, bytesMax)
  return { ref: `sha256:${sha256Hex(bytes)}`, bytes }
}
