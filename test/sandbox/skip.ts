import { findBwrap, probeSandbox } from "../../src/sandbox/probe.ts"

let answer: Promise<string | null> | null = null

/** Why the tests that need a working bubblewrap cannot run here, printed once; null when they can. */
export function sandboxSkip(): Promise<string | null> {
  answer ??= ask()
  return answer
}

async function ask(): Promise<string | null> {
  const probe = await probeSandbox(findBwrap("/nonexistent"))
  if (probe.kind === "bwrap") return null
  process.stderr.write(`skipped: ${probe.reason}; ${probe.hint}\n`)
  return probe.reason
}
