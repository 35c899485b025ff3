import { readFileSync } from "node:fs"
import { readLines } from "../../src/workspace/files/read-file.ts"
import { WorkspaceRoot } from "../../src/workspace/files/root.ts"

/** Reads line 1002 of a file and tells how much memory that took at most: `bun read-range.ts ROOT FILE`. */
const [directory = ".", file = ""] = process.argv.slice(2)
const root = new WorkspaceRoot(directory)

function peakBytes(): number {
  const kilobytes = /VmHWM:\s+(\d+)/.exec(readFileSync("/proc/self/status", "utf8"))?.[1]
  return Number(kilobytes) * 1024
}

peakBytes()
const before = peakBytes()
const { text, totalLines } = readLines(root, file, { fromLine: 1002, lineCount: 1, bytesMax: 10_000 })
process.stdout.write(JSON.stringify({ text, totalLines, extraBytes: peakBytes() - before }))
