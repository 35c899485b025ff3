import { describe, expect, test } from "bun:test"
import { readdirSync } from "node:fs"
import { type FakeCheckout, fakeCheckout } from "../support/fake-checkout.ts"

const testScripts = ["scripts/test", "scripts/test-summary.ts", "scripts/with-bun", "scripts/pinned-bun.sh"]

function checkoutWithTests(files: Readonly<Record<string, string>>): FakeCheckout {
  const checkout = fakeCheckout(testScripts)
  // Stands in for the build, which is not what is tested here.
  checkout.write("scripts/build", '#!/bin/sh\necho built >"$1"\n', 0o755)
  const header = 'import { expect, test } from "bun:test"\n'
  for (const [name, text] of Object.entries(files)) checkout.write(`test/${name}.test.ts`, header + text)
  return checkout
}

function lastLine(text: string): string {
  return text.trimEnd().split("\n").at(-1) ?? ""
}

describe("scripts/test closes with one line", () => {
  test("that counts what passed and failed, and fails when something did", () => {
    using checkout = checkoutWithTests({
      good: 'test("a", () => expect(1).toBe(1))\ntest("b", () => expect(2).toBe(2))\n',
      bad: 'test("c", () => expect(1).toBe(2))\n',
    })
    const all = checkout.run(["bash", "scripts/test"])
    expect([lastLine(all.stdout), all.exitCode]).toEqual(["2 passed, 1 failed", 1])
    expect(all.stdout.match(/^\d+ passed, \d+ failed$/gm)).toHaveLength(1)
    const some = checkout.run(["bash", "scripts/test", "good"])
    expect([lastLine(some.stdout), some.exitCode]).toEqual(["2 passed, 0 failed", 0])
  })

  test("also when a file cannot be loaded, nothing matches, or the runner dies", () => {
    using checkout = checkoutWithTests({
      good: 'test("a", () => expect(1).toBe(1))\n',
      broken: 'throw new Error("cannot load")\n',
      dying: 'test("d", () => process.kill(process.pid, "SIGKILL"))\n',
    })
    for (const [args, closing] of [
      [["good", "broken"], "1 passed, 1 failed"],
      [["nothing-like-that"], "0 passed, 1 failed"],
      [["dying"], "0 passed, 1 failed"],
    ] as const) {
      const run = checkout.run(["bash", "scripts/test", ...args])
      expect([lastLine(run.stdout), run.exitCode]).toEqual([closing, 1])
    }
  })

  test("and says what was skipped and why", () => {
    using checkout = checkoutWithTests({
      some: 'test("a", () => expect(1).toBe(1))\ntest.skip("b (skipped: no <tmux> & \\"x\\")", () => {})\n',
    })
    const { stdout } = checkout.run(["bash", "scripts/test"])
    expect(stdout).toContain(
      'skipped: b (skipped: no <tmux> & "x") [test/some.test.ts]\n1 passed, 0 failed\n',
    )
  })
})

test("scripts/test gives tests a directory of their own and leaves nothing of it", () => {
  using checkout = checkoutWithTests({
    place: `
import { mkdirSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
test("a", () => {
  mkdirSync(tmpdir() + "/locked")
  writeFileSync(tmpdir() + "/locked/file", "", { mode: 0o400 })
  for (const name of ["XDG_CONFIG_HOME", "XDG_DATA_HOME", "TMPDIR"]) expect(process.env[name]).toContain("acode-test.")
  expect(process.env["ACODE_SOMETHING"]).toBeUndefined()
})
`,
  })
  checkout.write("tmp/keep", "")
  const env = { TMPDIR: `${checkout.root}/tmp`, ACODE_SOMETHING: "1" }
  expect(lastLine(checkout.run(["bash", "scripts/test"], { env }).stdout)).toBe("1 passed, 0 failed")
  expect(readdirSync(`${checkout.root}/tmp`)).toEqual(["keep"])
})

describe("scripts/test runs", () => {
  const program =
    'test("a", () => expect(process.env["ACODE_TEST_BINARY"] ?? "the sources").toMatch(/PATTERN/))\n'

  test("everything on the compiled program, and named files on the sources", () => {
    using whole = checkoutWithTests({ which: program.replace("PATTERN", "acode-test\\.\\w+\\/acode$") })
    expect(lastLine(whole.run(["bash", "scripts/test"]).stdout)).toBe("1 passed, 0 failed")
    using some = checkoutWithTests({ which: program.replace("PATTERN", "^the sources$") })
    expect(lastLine(some.run(["bash", "scripts/test", "which"]).stdout)).toBe("1 passed, 0 failed")
  })

  test("nothing when the program cannot be built", () => {
    using checkout = checkoutWithTests({ which: program })
    checkout.write("scripts/build", "#!/bin/sh\nexit 1\n", 0o755)
    const { stdout, exitCode } = checkout.run(["bash", "scripts/test"])
    expect([lastLine(stdout), exitCode]).toEqual(["0 passed, 1 failed", 1])
  })
})

describe(".ci/run", () => {
  /** Stands in for npm: `check` and `test` end as the file of that name says. */
  const npm = `#!/bin/sh
case "$*" in
  ci) exit 0 ;;
  "run check") exit "$(cat check)" ;;
  test) echo "some output"; cat closing; exit "$(cat test-status)" ;;
esac
`
  function ciRun(check: string, closing: string, status: string) {
    using checkout = fakeCheckout([".ci/run"], "missing")
    checkout.write("bin/npm", npm, 0o755)
    // Where a package is missing, the script would install it.
    checkout.write("bin/apt-get", "#!/bin/sh\n", 0o755)
    for (const [name, text] of Object.entries({ check, closing, "test-status": status }))
      checkout.write(name, text)
    const env = { PATH: `${checkout.root}/bin:${process.env["PATH"]}` }
    const run = checkout.run(["bash", ".ci/run"], { env })
    expect(run.stdout.match(/^\d+ passed, \d+ failed$/gm)).toHaveLength(1)
    return [lastLine(run.stdout), run.exitCode]
  }

  test("closes with the line of the tests, and counts a failed check as a failure", () => {
    expect(ciRun("0", "12 passed, 0 failed\n", "0")).toEqual(["12 passed, 0 failed", 0])
    expect(ciRun("1", "12 passed, 0 failed\n", "0")).toEqual(["12 passed, 1 failed", 1])
    expect(ciRun("0", "10 passed, 2 failed\n", "1")).toEqual(["10 passed, 2 failed", 1])
    expect(ciRun("1", "10 passed, 2 failed\n", "1")).toEqual(["10 passed, 3 failed", 1])
    expect(ciRun("0", "", "137")).toEqual(["0 passed, 1 failed", 1])
  })
})
