import { writeSync } from "node:fs"
import { main } from "../../src/cli/main.ts"

/** Reads command lines as JSON, one a line, and runs each in this process; a zero byte ends what one has printed. */
for await (const line of console) {
  const { argv, cwd } = JSON.parse(line) as { readonly argv: readonly string[]; readonly cwd: string }
  process.chdir(cwd)
  const exitCode = await main(argv)
  writeSync(2, "\0")
  writeSync(1, `\u0001${exitCode}\0`)
}
