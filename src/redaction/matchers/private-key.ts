import { alphabetOf } from "../../base/byte-sets.ts"
import { byteAt, extentEnd, type Matcher, type Scene, type SecretPosition, textAt } from "../scene.ts"

/** The most bytes of a key block that are redacted. Key blocks are the only secrets of several lines. */
const keyBlockBytesMax = 16 * 1024

const label = /^-----(BEGIN|END) [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----/
const labelBytesMax = 80

/**
 * Finds a block between BEGIN and END, which is one secret, whatever the prefixes of its lines. A block without END
 * was cut: then the lines that look like a key are the secret.
 */
export const privateKeyMatcher: Matcher = (scene, at) => {
  const begin = label.exec(textAt(scene, at, at + labelBytesMax))
  if (begin === null || begin[1] !== "BEGIN") return null
  const body = at + begin[0].length
  const limit = Math.min(scene.end, body + keyBlockBytesMax)
  const dashes = findDashes(scene, body, limit)
  const end = dashes < 0 ? null : label.exec(textAt(scene, dashes, dashes + labelBytesMax))
  if (end?.[1] === "END" && !isExample(textAt(scene, body, dashes)))
    return { start: at, end: dashes + end[0].length, extent: null }
  return cutBlock(scene, at, body, dashes < 0 ? limit : dashes)
}

/** Returns true when the block that begins at `at` needs more bytes to be judged. */
export function isOpenBlock(scene: Scene, at: number): boolean {
  const text = textAt(scene, at, at + labelBytesMax)
  const begin = label.exec(text)
  if (begin === null) return text.length < labelBytesMax && !/^-----[^-]*(?:-----|\n)/.test(text)
  const body = at + begin[0].length
  if (scene.end >= body + keyBlockBytesMax + labelBytesMax) return false
  const dashes = findDashes(scene, body, scene.end)
  return dashes < 0 || dashes + labelBytesMax > scene.end
}

function findDashes(scene: Scene, from: number, limit: number): number {
  return scene.bytes.subarray(0, limit).indexOf("-----", from, "latin1")
}

/** Reports whether the block is a template, or an elided key in documentation. */
function isExample(body: string): boolean {
  return /\$\{|\{\{|<|\.\.\.|\xe2\x80\xa6|\[REDACTED:/.test(body) || !/[A-Za-z0-9+/]{4}/.test(body)
}

const lineBytes = { members: alphabetOf(/[A-Za-z0-9+/=]/), escapes: false }
const gapBytes = { members: alphabetOf(/[\s"'+,>|]/), escapes: true }
const headerLine = /^(?:Proc-Type|DEK-Info|Version|Comment|Encryption|Key-Lines): [^\n\\]{0,100}/
const fullLine = 40

function cutBlock(scene: Scene, at: number, body: number, limit: number): SecretPosition | null {
  let end = body
  for (let lines = 0; ; lines++) {
    const from = skipHeaders(scene, Math.min(limit, extentEnd(scene.bytes, end, limit, gapBytes)), limit)
    const to = extentEnd(scene.bytes, from, limit, lineBytes)
    if (to - from >= fullLine) {
      end = to
      continue
    }
    const isLast =
      lines > 0 && to > from && (to >= limit || /[\s"'\\]/.test(String.fromCharCode(byteAt(scene, to))))
    if (isLast) end = to
    return end === body ? null : { start: at, end, extent: null }
  }
}

function skipHeaders(scene: Scene, from: number, limit: number): number {
  let at = from
  for (let lines = 0; lines < 6; lines++) {
    const header = headerLine.exec(textAt(scene, at, Math.min(limit, at + 128)))
    if (header === null) return at
    at = Math.min(limit, extentEnd(scene.bytes, at + header[0].length, limit, gapBytes))
  }
  return at
}

const puttyHead = /^Private-Lines: (\d{1,3})(?:\r?\n|\\{1,4}n)/
const puttyHeadBytes = 24
const puttyLinesMax = 100
const puttyBytes = { members: alphabetOf(/[A-Za-z0-9+/=\r\n\\]/), escapes: false }

/** Finds the key of PuTTY: the number of lines that its header states. */
export const puttyMatcher: Matcher = (scene, at) => {
  const head = puttyHead.exec(textAt(scene, at, at + puttyHeadBytes))
  if (head === null) return null
  const start = at + head[0].length
  const text = textAt(scene, start, puttyEnd(scene, start))
  const count = Math.min(puttyLinesMax, Number(head[1]))
  const lines = [...text.matchAll(/[A-Za-z0-9+/=]+?(?=\r|\n|\\|$)/g)].slice(0, count)
  const last = lines.at(-1)
  if (last === undefined || last.index + last[0].length < fullLine) return null
  return { start, end: start + last.index + last[0].length, extent: null }
}

export function isOpenPutty(scene: Scene, at: number): boolean {
  const text = textAt(scene, at, at + puttyHeadBytes)
  const head = puttyHead.exec(text)
  if (head === null) return text.length < puttyHeadBytes && !text.includes("\n")
  const start = at + head[0].length
  return puttyEnd(scene, start) === scene.end && scene.end - start < puttyBytesMax
}

const puttyBytesMax = 8 * 1024

function puttyEnd(scene: Scene, start: number): number {
  return extentEnd(scene.bytes, start, Math.min(scene.end, start + puttyBytesMax), puttyBytes)
}
