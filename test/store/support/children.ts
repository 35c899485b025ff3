import { writeFileSync } from "node:fs"
import { join } from "node:path"

export interface Child {
  readonly exitCode: number | null
  readonly signal: string | null
  /** What it printed, read as JSON; null when it died first. */
  readonly answer: unknown
}

/** Runs a task of store-child.ts in a process of its own; `wrap` puts other programs in front of it. */
export async function storeChild(
  directory: string,
  task: string,
  count = 0,
  goFile = "",
  wrap: readonly string[] = [],
): Promise<Child> {
  const script = Bun.fileURLToPath(import.meta.resolve("./store-child.ts"))
  const argv = [...wrap, process.execPath, script, directory, task, String(count), goFile]
  const child = Bun.spawn(argv, { stdout: "pipe", stderr: "pipe" })
  const [text, errors] = await Promise.all([child.stdout.text(), child.stderr.text()])
  await child.exited
  if (child.exitCode !== 0 && child.signalCode === null) throw new Error(`${task}: ${errors}`)
  return {
    exitCode: child.exitCode,
    signal: child.signalCode === null ? null : String(child.signalCode),
    answer: text === "" ? null : JSON.parse(text),
  }
}

/** The same task in several processes that begin at the same moment. */
export function storeChildren(
  directory: string,
  task: string,
  processes: number,
  count = 0,
): Promise<Child[]> {
  const goFile = join(directory, `go-${task}`)
  const children = Array.from({ length: processes }, () => storeChild(directory, task, count, goFile))
  writeFileSync(goFile, "")
  return Promise.all(children)
}
