import { describe, test } from "bun:test"
import { probeChoice } from "../../src/sandbox/select.ts"

/**
 * Returns `test`, or a skipped test that says why: `const gitTest = testWhere(missingProgram("git"))`. The reason is in
 * the name, so that the summary of the run prints it.
 */
export function testWhere(reason: string | null): typeof test {
  if (reason === null) return test
  const skipped = (name: string) => test.skip(`${name} (skipped: ${reason})`, () => undefined)
  // as: a skipped test needs neither body nor options, and a table of them neither rows nor names of its own.
  return Object.assign(skipped, test, { each: () => skipped }) as unknown as typeof test
}

/** The same for a whole group. Its body is still read, so what it prepares belongs into `beforeAll`. */
export function describeWhere(reason: string | null): (name: string, body: () => void) => void {
  return (name, body) => {
    if (reason === null) describe(name, body)
    else describe.skip(`${name} (skipped: ${reason})`, body)
  }
}

/** Null when it is installed, else the reason. */
export function missingProgram(name: string): string | null {
  return Bun.which(name) === null ? `${name} is not installed` : null
}

/** Null where acode can confine commands, which takes more than an installed bubblewrap; else the reason. */
export const missingSandbox: string | null = await sandboxProblem()

async function sandboxProblem(): Promise<string | null> {
  const { kind, reason } = await probeChoice("auto", "/nonexistent")
  return kind === "none" ? `no sandbox: ${reason}` : null
}

/**
 * Grants the plan of a session, and where nothing confines its commands those as well: for tests of what becomes of a
 * command, whatever confines it.
 */
export const planAndCommands = missingSandbox === null ? "plan" : "plan,terminal"
