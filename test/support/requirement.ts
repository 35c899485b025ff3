import { test } from "bun:test"

/**
 * `test`, or a skipped test that says why: `const sandboxTest = testWhere(missingProgram("bwrap"))`. The reason stands
 * in the name, so that the summary of the run prints it.
 */
export function testWhere(reason: string | null): typeof test {
  if (reason === null) return test
  const skipped = (name: string) => test.skip(`${name} (skipped: ${reason})`, () => undefined)
  return Object.assign(skipped, test) as typeof test // as: a skipped test needs neither body nor options
}

/** Null when it is installed, else the reason. */
export function missingProgram(name: string): string | null {
  return Bun.which(name) === null ? `${name} is not installed` : null
}
