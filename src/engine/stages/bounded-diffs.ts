import type { BoundedText } from "./contract.ts"
import { bytesTokens } from "./token-estimate.ts"

const bytesMax = 64 * 1024
/** One file alone may not take all of it. */
const fileBytesMax = bytesMax / 2

/** With less room than this hardly any diff fits; the others are not even made, and are taken for as long as this. */
const roomBytesMin = 256

/** Diffs one after the other, as many as fit, each made when it is wanted; what is cut or left out is named. */
export function boundedDiffs(
  diffs: readonly { readonly path: string; readonly diff: () => string }[],
): BoundedText {
  const shown: string[] = []
  const leftOut: string[] = []
  let [bytesLeft, missingBytes] = [bytesMax, 0]
  for (const { path, diff } of diffs) {
    const whole = bytesLeft < roomBytesMin ? null : diff()
    const part = whole === null ? null : cut(whole, fileBytesMax)
    const bytes = part === null ? Number.POSITIVE_INFINITY : Buffer.byteLength(part.text)
    if (part !== null && bytes <= bytesLeft) {
      shown.push(part.text)
      bytesLeft -= bytes
      missingBytes += part.missingBytes
    } else {
      leftOut.push(path)
      missingBytes += whole === null ? roomBytesMin : Buffer.byteLength(whole)
    }
  }
  return { text: shown.join("") + namesOf(leftOut), leftOutTokens: bytesTokens(missingBytes) }
}

function namesOf(leftOut: readonly string[]): string {
  if (leftOut.length === 0) return ""
  const named = leftOut.slice(0, namesMax).join(", ")
  const more = leftOut.length > namesMax ? ` and ${leftOut.length - namesMax} more` : ""
  return `[also changed, and not shown here: ${named}${more}]\n`
}

const namesMax = 100

/** Whole lines, and how many are missing. */
function cut(diff: string, max: number): { readonly text: string; readonly missingBytes: number } {
  const wholeBytes = Buffer.byteLength(diff)
  if (wholeBytes <= max) return { text: diff, missingBytes: 0 }
  const lines = diff.replace(/\n$/, "").split("\n")
  const kept: string[] = []
  let bytes = 0
  for (const line of lines) {
    const lineBytes = Buffer.byteLength(line) + 1
    if (bytes + lineBytes > max) break
    bytes += lineBytes
    kept.push(line)
  }
  const told = `[${lines.length - kept.length} more lines of this file are not shown]`
  return { text: `${kept.join("\n")}\n${told}\n`, missingBytes: wholeBytes - bytes }
}
