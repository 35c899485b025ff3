import { describe, expect, test } from "bun:test"
import { copyFileSync, readdirSync, symlinkSync } from "node:fs"
import { dirname, join } from "node:path"
import { repositoryRoot } from "../support/acode.ts"
import { testWhere } from "../support/requirement.ts"
import { type FakeCheckout, fakeCheckout } from "../support/workspace/fake-checkout.ts"

const testScripts = ["scripts/test", "scripts/test-summary.ts", "scripts/with-bun", "scripts/pinned-bun.sh"]

function checkoutWithTests(files: Readonly<Record<string, string>>): FakeCheckout {
  const checkout = fakeCheckout(testScripts)
  // Stands in for the build, which is not what is tested here.
  checkout.write("scripts/build", '#!/bin/sh\necho built >"$1"\n', 0o755)
  const judges = ["scripts/declared-seen.ts", "scripts/coverage-floors.ts"]
  for (const empty of [...judges, "test/support/declared/seen-failures.ts"]) checkout.write(empty, "")
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

  test("which counts what is declared and was seen by no test, after a whole run alone", () => {
    using checkout = checkoutWithTests({ good: 'test("a", () => expect(1).toBe(1))\n' })
    checkout.write("scripts/declared-seen.ts", 'console.log("unseen: x")\nprocess.exitCode = 1\n')
    const all = checkout.run(["bash", "scripts/test"])
    expect([all.stdout.includes("unseen: x\n"), lastLine(all.stdout), all.exitCode]).toEqual([
      ...[true, "1 passed, 1 failed", 1],
    ])
    const some = checkout.run(["bash", "scripts/test", "good"])
    expect([some.stdout.includes("unseen"), lastLine(some.stdout)]).toEqual([false, "1 passed, 0 failed"])
  })

  test("which counts a folder below its floor of executed lines, after a whole run alone", () => {
    using checkout = checkoutWithTests({ good: 'test("a", () => expect(1).toBe(1))\n' })
    const judge = "console.log(await Bun.file(process.argv[2]).text())\nprocess.exitCode = 1\n"
    checkout.write("scripts/coverage-floors.ts", judge)
    const all = checkout.run(["bash", "scripts/test"])
    expect(all.stdout).toContain("end_of_record")
    expect([lastLine(all.stdout), all.exitCode]).toEqual(["1 passed, 1 failed", 1])
    const some = checkout.run(["bash", "scripts/test", "good"])
    expect([some.stdout.includes("end_of_record"), lastLine(some.stdout)]).toEqual([
      false,
      "1 passed, 0 failed",
    ])
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

  test("with a few of each reason, which may be the reason of a whole group", () => {
    const skipped = (count: number, reason: string) =>
      `describe.skip("group (skipped: ${reason})", () => {
        for (let at = 0; at < ${count}; at++) test("t" + at, () => {})
      })\n`
    using checkout = checkoutWithTests({
      some: `import { describe } from "bun:test"\ntest("a", () => expect(1).toBe(1))\n${skipped(9, "no x")}${skipped(1, "no (y)")}`,
    })
    const { stdout } = checkout.run(["bash", "scripts/test"])
    const told = stdout.split("\n").filter(line => line.startsWith("skipped: "))
    expect(told).toEqual([
      ...[0, 1, 2, 3, 4].map(at => `skipped: t${at} (skipped: no x) [test/some.test.ts]`),
      "skipped: 4 more (no x)",
      "skipped: t0 (skipped: no (y)) [test/some.test.ts]",
    ])
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
  /** Stands in for npm: `check` and `test` end as the file of that name says, hidden programs have their own. */
  const npm = `#!/bin/sh
case "$*" in
  ci) exit 0 ;;
  "run check") exit "$(cat check)" ;;
  test) echo "some output of a run without: $ACODE_TEST_HIDE"; cat "closing\${ACODE_TEST_HIDE:+-hidden}"
    exit "$(cat "status\${ACODE_TEST_HIDE:+-hidden}")" ;;
esac
`
  interface Runs {
    readonly check: string
    /** The closing line and the exit status of the plain run, and of the one with programs hidden. */
    readonly plain: readonly [string, string]
    readonly hidden: readonly [string, string]
    readonly without?: string
  }

  function ciRun({ check, plain, hidden, without = 'shift; exec "$@"' }: Runs) {
    using checkout = fakeCheckout([".ci/run"], "missing")
    checkout.write("bin/npm", npm, 0o755)
    // Where a package is missing, the script would install it.
    checkout.write("bin/apt-get", "#!/bin/sh\n", 0o755)
    checkout.write("bin/git", "#!/bin/sh\n", 0o755)
    checkout.write("scripts/without", `#!/bin/sh\n${without}\n`, 0o755)
    const [closing, status] = plain
    const [closingHidden, statusHidden] = hidden
    const files = { check, closing, status, "closing-hidden": closingHidden, "status-hidden": statusHidden }
    for (const [name, text] of Object.entries(files)) checkout.write(name, text)
    const env = { PATH: `${checkout.root}/bin:${process.env["PATH"]}` }
    const run = checkout.run(["bash", ".ci/run"], { env })
    expect(run.stdout.match(/^\d+ passed, \d+ failed$/gm)).toHaveLength(1)
    return { closing: lastLine(run.stdout), exitCode: run.exitCode, stdout: run.stdout }
  }

  const good = ["12 passed, 0 failed\n", "0"] as const
  const bad = ["10 passed, 2 failed\n", "1"] as const
  const died = ["", "137"] as const

  test.each<[string, readonly [string, string], readonly [string, string], string, number]>([
    ["0", good, good, "24 passed, 0 failed", 0],
    ["1", good, good, "24 passed, 1 failed", 1],
    ["0", bad, good, "22 passed, 2 failed", 1],
    ["0", good, bad, "22 passed, 2 failed", 1],
    ["1", bad, bad, "20 passed, 5 failed", 1],
    ["0", died, good, "12 passed, 1 failed", 1],
    ["0", good, died, "12 passed, 1 failed", 1],
  ])("sums both runs, and counts a failed check (%s, %j, %j)", (check, plain, hidden, closing, exitCode) => {
    expect(ciRun({ check, plain, hidden })).toMatchObject({ closing, exitCode })
  })

  test("hides bubblewrap from the second run, and says so where that is not possible", () => {
    const both = ciRun({ check: "0", plain: good, hidden: good })
    expect(both.stdout).toMatch(/^some output of a run without: $/m)
    expect(both.stdout).toMatch(/^some output of a run without: bwrap$/m)
    const one = ciRun({ check: "0", plain: good, hidden: bad, without: "exit 69" })
    expect(one).toMatchObject({ closing: "12 passed, 0 failed", exitCode: 0 })
    expect(one.stdout).toContain("not run again")
  })
})

const hidingTest = testWhere(
  Bun.spawnSync([join(repositoryRoot, "scripts/without"), "env", "true"]).exitCode === 0
    ? null
    : "this user can neither mount nor use bubblewrap",
)

describe("scripts/without", () => {
  const without = join(repositoryRoot, "scripts/without")

  hidingTest("hides programs from everything that looks for them, and nothing else", () => {
    using checkout = fakeCheckout([], "missing")
    for (const name of ["one", "other", "many"])
      checkout.write(`bin/${name}`, "#!/bin/sh\necho ran $0\n", 0o755)
    symlinkSync("many", join(checkout.root, "bin/linked"))
    const env = { PATH: `${checkout.root}/bin:${process.env["PATH"]}` }
    const script = "test -f bin/one || echo no file; test -x bin/one || echo no program; one; other; linked"
    const run = checkout.run([without, "one linked missing", "sh", "-c", script], { env })
    expect(run.stdout).toBe(
      `no file\nno program\n${["other", "linked"].map(name => `ran ${checkout.root}/bin/${name}\n`).join("")}`,
    )
    expect(checkout.run([without, "one", "sh", "-c", "exit 7"], { env }).exitCode).toBe(7)
    expect(checkout.run(["one"], { env }).stdout).toStartWith("ran ")
  })

  hidingTest("is what ACODE_TEST_HIDE does to a run of the tests", () => {
    using checkout = checkoutWithTests({
      some: 'test("a", () => expect([Bun.which("one"), process.env["ACODE_TEST_HIDE"]]).toEqual([null, undefined]))\n',
    })
    copyFileSync(without, checkout.write("scripts/without", "", 0o755))
    const program = checkout.write("bin/one", "#!/bin/sh\n", 0o755)
    const env = { PATH: `${dirname(program)}:${process.env["PATH"]}` }
    expect(lastLine(checkout.run(["bash", "scripts/test"], { env }).stdout)).toBe("0 passed, 1 failed")
    const hidden = checkout.run(["bash", "scripts/test"], { env: { ...env, ACODE_TEST_HIDE: "one" } })
    expect(lastLine(hidden.stdout)).toBe("1 passed, 0 failed")
  })
})
