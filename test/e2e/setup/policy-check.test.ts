import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { readdirSync } from "node:fs"
import { runAcode } from "../../support/acode.ts"
import { missingSandbox, testWhere } from "../../support/requirement.ts"
import { type TempWorkspace, tempWorkspace } from "../../support/workspace/temp-workspace.ts"

const confinedTest = testWhere(missingSandbox)

let workspace: TempWorkspace

beforeAll(() => {
  workspace = tempWorkspace({ files: { "src/a.ts": "a\n" } })
})
afterAll(() => workspace[Symbol.dispose]())

function check(args: readonly string[], stdin = "") {
  return runAcode(["policy", "check", ...args], { cwd: workspace.root, env: workspace.environment, stdin })
}

async function answerTo(...args: readonly string[]): Promise<unknown> {
  const { exitCode, stdout, stderr } = await check(["--json", ...args])
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" })
  return JSON.parse(stdout)
}

describe("a command", () => {
  confinedTest("that is ordinary is allowed, confined, with the rule and the reason", async () => {
    expect(await answerTo("--", "npm", "test")).toEqual({
      decision: "allow",
      confined: true,
      rule: "commands.packages",
      reason: "an ordinary command, confined",
    })
  })

  confinedTest("is told to a person in one line", async () => {
    const { stdout } = await check(["ls", "-la"])
    expect(stdout).toBe("allow, only inside a sandbox: an ordinary command, confined (commands.read)\n")
  })

  test("as one string is judged by everything it would start", async () => {
    expect(await answerTo("ls && rm -rf /")).toMatchObject({ decision: "deny", confined: false })
    expect(await answerTo("ls;git push")).toMatchObject({ decision: "ask", rule: "commands.network" })
  })

  test("behind -- is taken to the letter", async () => {
    expect(await answerTo("--", "ls; ls")).toMatchObject({ decision: "deny", rule: "never.malformed" })
  })

  test("keeps its own flags", async () => {
    expect(await answerTo("rm", "-rf", "--path", "/")).toMatchObject({ decision: "deny" })
  })

  test("is neither run nor recorded", async () => {
    using fresh = tempWorkspace()
    const run = await runAcode(["policy", "check", "--", "touch", "made"], {
      cwd: fresh.root,
      env: fresh.environment,
    })
    expect(run.exitCode).toBe(0)
    expect(readdirSync(fresh.root)).toEqual([])
    expect(readdirSync(fresh.dataHome)).toEqual([])
  })
})

describe("a path", () => {
  test.each([
    ["src/a.ts", "read", "allow"],
    ["src", "list", "allow"],
    ["src/a.ts", "write", "ask"],
    ["src/a.ts", "delete", "ask"],
    [".env", "read", "deny"],
    ["../elsewhere", "read", "deny"],
  ])("%s to %s: %s", async (path, op, decision) => {
    expect(await answerTo("--path", path, "--op", op)).toMatchObject({ decision, confined: false })
  })
})

describe("--exit-code", () => {
  test.each([
    [["--path", "src/a.ts", "--op", "read"], 0],
    [["--path", "src/a.ts", "--op", "write"], 10],
    [["--", "git", "push"], 10],
    [["--", "rm", "-rf", "/"], 33],
  ])("%j exits %i", async (args, expected) => {
    expect((await check(["--exit-code", ...args])).exitCode).toBe(expected)
    expect((await check(args)).exitCode).toBe(0)
  })
})

describe("--stdin", () => {
  const lines = [
    '{"path":"src/a.ts","op":"read"}',
    '{"command":"git push"}',
    "",
    '{"argv":["rm","-rf","/"]}',
  ].join("\n")

  test("answers each question with one line, in order", async () => {
    const { exitCode, stdout, stderr } = await check(["--stdin"], lines)
    const answers = stdout
      .trimEnd()
      .split("\n")
      .map(line => JSON.parse(line))
    expect(answers.map(({ decision }) => decision)).toEqual(["allow", "ask", "deny"])
    for (const answer of answers)
      expect(Object.keys(answer)).toEqual(["decision", "confined", "rule", "reason"])
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" })
  })

  test("exits with the strictest when asked to", async () => {
    expect((await check(["--stdin", "--exit-code"], lines)).exitCode).toBe(33)
    expect((await check(["--stdin", "--exit-code"], "")).exitCode).toBe(0)
  })

  test("answers the others when a line cannot be read, names it, and exits 2", async () => {
    const { exitCode, stdout } = await check(["--stdin", "--exit-code"], `nonsense\n${lines}\n{"argv":[]}\n`)
    const answers = stdout
      .trimEnd()
      .split("\n")
      .map(line => JSON.parse(line))
    expect(answers.map(({ decision, error }) => decision ?? error.where)).toEqual([
      "line 1",
      "allow",
      "ask",
      "deny",
      "line 6",
    ])
    expect(answers[0].error).toMatchObject({
      code: "ACODE-CLI-003",
      message: expect.stringContaining("not JSON"),
    })
    expect(exitCode).toBe(2)
  })
})

describe("what cannot be asked exits 2 and says why", () => {
  test.each([
    [[], "there is nothing to ask about"],
    [["--path", "a"], "--path needs --op"],
    [["--op", "read"], "there is nothing to ask about"],
    [["--op", "read", "--", "ls"], "--op goes with --path"],
    [["--path", "a", "--op", "chmod"], "--op"],
    [["--stdin", "--", "ls"], "exclude each other"],
    [["--stdin", "--path", "a", "--op", "read"], "exclude each other"],
  ])("%j", async (args, reason) => {
    const { exitCode, stdout, stderr } = await check(args)
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: "" })
    expect(stderr).toContain(reason)
  })
})

test("help shows all three forms", async () => {
  const { exitCode, stdout } = await check(["--help"])
  expect(exitCode).toBe(0)
  for (const form of ["policy check -- npm test", "--path .env --op read", "--stdin <"])
    expect(stdout).toContain(form)
})
