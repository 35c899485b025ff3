import { Failure } from "../../domain/failure.ts"
import type { Redactor } from "../../policy/contract.ts"
import type { Workspace } from "../../workspace/contract.ts"
import type { BoundedText, StageView } from "./contract.ts"
import { bytesTokens } from "./token-estimate.ts"

const filesMax = 20
const fileBytesMax = 16 * 1024
const totalBytesMax = 64 * 1024
/** Of those that are too many. */
const namesMax = 100

/**
 * Files that a person wants a model to see from the beginning, by their globs. Bounded, redacted, in a fixed order. The
 * ones that are beyond the bounds are named, so that a model can read them.
 */
export function readContextFiles(
  workspace: Workspace,
  redactor: Redactor,
  globs: readonly string[],
): StageView["files"] {
  const paths = [...new Set(globs.flatMap(pattern => matching(workspace, pattern)))].sort()
  const files: StageView["files"][number][] = []
  let left = totalBytesMax
  let count = 0
  for (const path of paths) {
    if (left <= 0 || files.length === filesMax) break
    count += 1
    const read = textOf(workspace, path, Math.min(left, fileBytesMax))
    if (read === null) continue
    const { text, leftOutTokens } = read
    const more = leftOutTokens === 0 ? {} : { leftOutTokens }
    files.push({ path, text: redactor.redactText(text), ...more })
    left -= Buffer.byteLength(text)
  }
  return [...files, ...further(paths.slice(count), redactor)]
}

function further(paths: readonly string[], redactor: Redactor): StageView["files"] {
  if (paths.length === 0) return []
  const more = paths.length > namesMax ? ["…"] : []
  const text = redactor.redactText([...paths.slice(0, namesMax), ...more].join("\n"))
  return [{ path: "too many to show all of them; read_file shows these", text }]
}

function matching(workspace: Workspace, pattern: string): readonly string[] {
  try {
    return workspace.glob({ pattern, path: ".", matchesMax: filesMax + namesMax + 1 }).paths
  } catch (error) {
    if (!(error instanceof Failure)) throw error
    // Not a glob, or one that leads outside: it names no file that could be shown.
    return []
  }
}

function textOf(workspace: Workspace, path: string, bytesMax: number): BoundedText | null {
  try {
    const { text, truncated, totalLines, sizeBytes } = workspace.readLines(path, { bytesMax })
    if (!truncated) return { text, leftOutTokens: 0 }
    const leftOutTokens = bytesTokens(sizeBytes - Buffer.byteLength(text))
    return { text: `${text}\n[cut off; the file has ${totalLines} lines]`, leftOutTokens }
  } catch (error) {
    if (!(error instanceof Failure)) throw error
    // Binary, protected or gone meanwhile: a model can still ask for it, and is told why not.
    return null
  }
}
