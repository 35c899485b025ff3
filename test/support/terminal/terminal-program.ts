import { readFileSync, writeSync } from "node:fs"
import { main } from "../../../src/cli/main.ts"

/** Runs the command lines of a file one after the other on the terminal it was started on, with a line between them. */
const lines: readonly (readonly string[])[] = JSON.parse(readFileSync(process.argv[2] ?? "", "utf8"))
for (const [index, line] of lines.entries()) {
  writeSync(1, `\n@@ line ${index}\n`)
  const code = await main(line)
  writeSync(1, `\n@@ ${code}\n`)
}
process.exitCode = 0
