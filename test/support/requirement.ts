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

const { kind, reason } = await probeChoice("auto", "/nonexistent")
const isConfined = kind !== "none" && kind !== "reduced"

/** Null where acode can confine commands, by whatever means; else the reason. */
export const missingSandbox: string | null = isConfined
  ? null
  : `no sandbox: ${reason ?? "only reduced confinement"}`

/** The sandbox that `auto` takes here; where there is none the tests that need one are skipped. */
export const confinedKind = isConfined ? kind : "native"

/**
 * Grants the plan of a session, and where nothing confines its commands those as well: for tests of what becomes of a
 * command, whatever confines it.
 */
export const planAndCommands = missingSandbox === null ? "plan" : "plan,terminal"

/** Runs the program behind it as on a machine without user namespaces, where nothing confines. */
export const withoutNamespaces = [
  ...["unshare", "--user", "--map-current-user", "--keep-caps", "--", "/bin/sh", "-c"],
  ...['echo 0 >/proc/sys/user/max_user_namespaces && exec "$@"', "sh"],
]

/** Null where user namespaces can be forbidden to a program, else the reason. */
export const cannotForbidNamespaces =
  Bun.which("unshare") !== null &&
  Bun.spawnSync([...withoutNamespaces, "true"], { stderr: "ignore" }).exitCode === 0
    ? null
    : "this user cannot forbid user namespaces"
