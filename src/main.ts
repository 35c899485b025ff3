import { writeSync } from "node:fs"
import { version } from "./version.ts"

const argv = process.argv.slice(2)
if (!(argv.length === 1 && argv[0] === "--version" && isVersionTold())) {
  const { main } = await import("./cli/main.ts")
  process.exitCode = await main(argv)
}

/** Answered before anything else is evaluated, and without the runtime's streams: asking is as cheap as starting. */
function isVersionTold(): boolean {
  try {
    writeSync(1, `${version}\n`)
    return true
  } catch {
    // `main` tries again, and knows how to say why it cannot.
    return false
  }
}
