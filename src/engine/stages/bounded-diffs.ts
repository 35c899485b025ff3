const bytesMax = 64 * 1024
/** One file alone may not take all of it. */
const fileBytesMax = bytesMax / 2

/** With less room than this hardly any diff fits; the others are not even made. */
const roomBytesMin = 256

/** Diffs one after the other, as many as fit, each made when it is wanted; what is cut or left out is named. */
export function boundedDiffs(
  diffs: readonly { readonly path: string; readonly diff: () => string }[],
): string {
  const shown: string[] = []
  const leftOut: string[] = []
  let bytesLeft = bytesMax
  for (const { path, diff } of diffs) {
    const part = bytesLeft < roomBytesMin ? null : cut(diff(), fileBytesMax)
    if (part === null) {
      leftOut.push(path)
      continue
    }
    const bytes = Buffer.byteLength(part)
    if (bytes <= bytesLeft) {
      shown.push(part)
      bytesLeft -= bytes
    } else leftOut.push(path)
  }
  if (leftOut.length === 0) return shown.join("")
  const named = leftOut.slice(0, namesMax).join(", ")
  const more = leftOut.length > namesMax ? ` and ${leftOut.length - namesMax} more` : ""
  return `${shown.join("")}[also changed, and not shown here: ${named}${more}]\n`
}

const namesMax = 100

/** Whole lines, and how many are missing. */
function cut(diff: string, max: number): string {
  if (Buffer.byteLength(diff) <= max) return diff
  const lines = diff.replace(/\n$/, "").split("\n")
  const kept: string[] = []
  let bytes = 0
  for (const line of lines) {
    bytes += Buffer.byteLength(line) + 1
    if (bytes > max) break
    kept.push(line)
  }
  return `${kept.join("\n")}\n[${lines.length - kept.length} more lines of this file are not shown]\n`
}
