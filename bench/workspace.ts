import { closeSync, ftruncateSync, lstatSync, openSync, readdirSync, writeSync } from "node:fs"
import { join } from "node:path"
import { Wiring } from "../src/app/wiring/wire.ts"
import { readEnvironment } from "../src/config/environment.ts"
import { repositoryRoot } from "../test/support/acode.ts"
import { tempWorkspace } from "../test/support/workspace/temp-workspace.ts"
import { interleaved } from "./measure.ts"
import { atMost, type Figure, timesFloor } from "./report.ts"

/** The user's files: knowing all of them again, and a small part of a large one. */
export async function workspaceFigures(): Promise<Figure[]> {
  return [await treeFigure(), rangeFigure()]
}

const fileCount = 10_000

/** Measures the tree of an unchanged repository, against reading the status of each of its files once. */
async function treeFigure(): Promise<Figure> {
  const files = Array.from({ length: fileCount }, (_, index): [string, string] => [
    `part-${index % 20}/area-${index % 400}/file-${index}.ts`,
    `export const value = ${index}\n`,
  ])
  using temp = tempWorkspace({ git: true, files: Object.fromEntries(files) })
  const environment = readEnvironment(temp.environment)
  using wiring = new Wiring({ environment, workspace: temp.root, configFile: undefined })
  const { workspace } = await wiring.workspace()
  const { digest, entries } = await workspace.tree()
  if (entries.length !== fileCount) throw new Error(`the tree has ${entries.length} files`)
  const [walked, digested] = await interleaved(40, [
    () => {
      if (statWalk(temp.root) !== fileCount) throw new Error("the walk missed files")
    },
    async () => {
      if ((await workspace.tree()).digest !== digest) throw new Error("the tree changed")
    },
  ])
  if (walked === undefined || digested === undefined) throw new Error("nothing measured")
  return timesFloor("tree of 10,000 files, unchanged", digested.p50, walked.p50, 1.5)
}

/** Lists every directory and reads the status of every file: the minimum cost of detecting a change. */
function statWalk(directory: string): number {
  let count = 0
  for (const entry of readdirSync(directory, { withFileTypes: true })) {
    const path = join(directory, entry.name)
    if (entry.isDirectory()) {
      if (entry.name !== ".git") count += statWalk(path)
    } else if (lstatSync(path).isFile()) count += 1
  }
  return count
}

/** Measures in a new process, whose peak memory is then that of this one read. */
function rangeFigure(): Figure {
  using temp = tempWorkspace()
  const fd = openSync(join(temp.root, "large.txt"), "w")
  writeSync(fd, "first line\n".repeat(1000))
  ftruncateSync(fd, 100_000_000)
  writeSync(fd, "\nlast line\n", 100_000_000)
  closeSync(fd)
  const reader = join(repositoryRoot, "test", "workspace", "read-range.ts")
  const { stdout, stderr } = Bun.spawnSync([process.execPath, reader, temp.root, "large.txt"])
  const answer: unknown = JSON.parse(stdout.toString() || `"${stderr.toString()}"`)
  if (typeof answer !== "object" || answer === null || !("extraBytes" in answer))
    throw new Error(`the file was not read: ${JSON.stringify(answer)}`)
  return atMost("a range of a 100 MB file, extra memory", Number(answer.extraBytes) / 1_000_000, 20, "MB")
}
