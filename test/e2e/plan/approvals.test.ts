import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { existsSync, mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { userName } from "../../../src/app/user-name.ts"
import { acodeProgram, runAcode } from "../../support/acode.ts"
import { agentWorkspace } from "../../support/agent/agent-workspace.ts"
import { seeded, seedSession } from "../../support/crash/seeded-session.ts"
import { missingProgram, testWhere } from "../../support/requirement.ts"
import { reply } from "../../support/script-replies.ts"
import { openTerminal } from "../../support/terminal/terminal.ts"
import { type TempWorkspace, tempWorkspace } from "../../support/workspace/temp-workspace.ts"

function acodeIn(workspace: TempWorkspace, ...args: readonly string[]) {
  return runAcode(args, { cwd: workspace.root, env: workspace.environment })
}

async function jsonIn(workspace: TempWorkspace, ...args: readonly string[]) {
  return JSON.parse((await acodeIn(workspace, "--json", ...args)).stdout)
}

describe("what waits for an answer", () => {
  let workspace: TempWorkspace
  beforeAll(() => {
    workspace = tempWorkspace()
    seedSession(workspace)
  })
  afterAll(() => workspace[Symbol.dispose]())

  test("is listed, for people and for programs", async () => {
    const { stdout } = await acodeIn(workspace, "approvals", "list")
    expect(stdout).toMatch(/^0000cccc {2}\S+Z {2}open {6}level 3 {2}delete \\u202eb\.ts\n$/)
    const listed = await jsonIn(workspace, "approvals", "list")
    expect(listed).toMatchObject([
      { id: seeded.approval, sessionId: seeded.session, state: "open", level: 3, answeredBy: null },
    ])
  })

  test("is shown with its preview, by the end of its id", async () => {
    const { stdout, exitCode } = await acodeIn(workspace, "approvals", "show", "0000cccc")
    expect(exitCode).toBe(0)
    expect(stdout).toBe(
      [
        "approval 0000cccc",
        "  operation  delete \\u202eb.ts",
        "  level      3, risky (FILE_DELETE)",
        "  why        writes are asked (default)",
        "  target     b.ts",
        "  step       s4",
        "  │   1 - const b = 1",
        "  waits for an answer",
        "",
      ].join("\n"),
    )
    expect(await jsonIn(workspace, "approvals", "show", seeded.approval)).toMatchObject({
      id: seeded.approval,
      preview: "  1 - const b = 1\n",
    })
  })

  test.each([
    ["approve", "zzzz", "ACODE-APPR-001"],
    ["deny", "zzzz", "ACODE-APPR-001"],
  ])("%s %s, which nobody asked, exits 2", async (verb, id, code) => {
    const run = await acodeIn(workspace, verb, id)
    expect(run).toMatchObject({ exitCode: 2, stdout: "" })
    expect(run.stderr).toContain(code)
    expect((await acodeIn(workspace, "approvals", "show", id)).exitCode).toBe(2)
  })

  test("is answered once: the second answer is told that it comes too late", async () => {
    const first = await acodeIn(workspace, "deny", "0000cccc", "--reason", "not on a Friday")
    expect(first).toMatchObject({ exitCode: 0, stdout: "denied 0000cccc: delete \\u202eb.ts\n" })
    for (const verb of ["approve", "deny"]) {
      const late = await acodeIn(workspace, verb, "0000cccc")
      expect(late.exitCode).toBe(2)
      expect(late.stderr).toContain("ACODE-APPR-002")
      expect(late.stderr).toContain(`was already answered: refused by ${userName()}`)
    }
    expect((await acodeIn(workspace, "approvals", "show", "0000cccc")).stdout).toMatch(
      /refused by \S+ at \S+Z: not on a Friday/,
    )
  })

  test("is no longer listed once answered, but with --all", async () => {
    const nothing = await acodeIn(workspace, "approvals", "list")
    expect(nothing).toMatchObject({ exitCode: 0, stdout: "" })
    expect(nothing.stderr).toContain("nothing waits for an answer")
    expect(await jsonIn(workspace, "approvals", "list")).toEqual([])
    expect(await jsonIn(workspace, "approvals", "list", "--all")).toMatchObject([
      { id: seeded.approval, state: "refused", answeredBy: userName(), answerReason: "not on a Friday" },
    ])
  })

  test("stays a history that verifies", async () => {
    expect((await acodeIn(workspace, "audit", "verify")).exitCode).toBe(0)
    const one = await acodeIn(workspace, "audit", "verify", "0000aaaa")
    expect(one.exitCode).toBe(0)
  })
})

test("approve grants, and the answer is valid for a while", async () => {
  using workspace = tempWorkspace()
  seedSession(workspace)
  const shown = (await acodeIn(workspace, "approvals", "show", "0000cccc")).stdout
  const { stdout, stderr } = await acodeIn(workspace, "--json", "approve", "apr_01890000")
  // What is approved is shown before it is recorded, beside the JSON.
  expect(`${stderr}  waits for an answer\n`).toBe(shown)
  const granted = JSON.parse(stdout)
  expect(granted).toMatchObject({ id: seeded.approval, state: "granted", usedAt: null })
  expect(Date.parse(granted.answerExpiresAt)).toBeGreaterThan(Date.parse(granted.answeredAt))
})

test("of two who answer at once one is told that it was too late", async () => {
  using workspace = tempWorkspace()
  seedSession(workspace)
  const runs = await Promise.all(["approve", "deny"].map(verb => acodeIn(workspace, verb, "0000cccc")))
  expect(runs.map(run => run.exitCode).sort()).toEqual([0, 2])
  const [{ state }] = await jsonIn(workspace, "approvals", "list", "--all")
  expect(state).toBe(runs[0]?.exitCode === 0 ? "granted" : "refused")
})

test("an expired request can no longer be answered", async () => {
  using workspace = tempWorkspace()
  seedSession(workspace, { expiresAt: "2026-01-02T03:04:05.000Z" })
  const late = await acodeIn(workspace, "approve", "0000cccc")
  expect(late.exitCode).toBe(2)
  expect(late.stderr).toContain("ACODE-APPR-002")
  expect(late.stderr).toContain("has expired")
  expect(await jsonIn(workspace, "approvals", "list", "--all")).toMatchObject([{ state: "expired" }])
})

test("a workspace without history has nothing to answer and is left alone", async () => {
  using workspace = tempWorkspace()
  expect(await jsonIn(workspace, "approvals", "list")).toEqual([])
  expect((await acodeIn(workspace, "approve", "x")).exitCode).toBe(2)
  expect(existsSync(workspace.state())).toBe(false)
})

describe("a plan that asks at a terminal", () => {
  const terminalTest = testWhere(missingProgram("tmux"))
  const plan = {
    plan_id: "p1",
    intent: "MUTATE",
    steps: [
      {
        step_id: "s1",
        tool: "file_create",
        arguments: { path: "a.txt", contents: "one\n" },
        precondition: "none",
        requires_confirmation: true,
      },
    ],
    evidence_referenced: [],
  }

  async function asking(): Promise<TempWorkspace> {
    const workspace = tempWorkspace({ files: { "p.json": JSON.stringify(plan) } })
    expect((await acodeIn(workspace, "plan", "approve", "p.json")).exitCode).toBe(0)
    return workspace
  }

  function runOn(workspace: TempWorkspace) {
    const argv = [acodeProgram(), "plan", "run", "p.json"]
    return openTerminal({ argv, cwd: workspace.root, env: workspace.environment })
  }

  terminalTest("is answered from another one, and the person there is told", async () => {
    using workspace = await asking()
    using terminal = runOn(workspace)
    await terminal.see("? help >")
    expect((await acodeIn(workspace, "approvals", "list")).stdout).toContain("create a.txt")
    expect((await acodeIn(workspace, "approve", "apr_", "--json")).exitCode).toBe(0)
    expect(await terminal.exitStatus()).toBe(0)
    expect(terminal.screen()).toContain(`answered at another terminal by ${userName()}: granted`)
    expect(existsSync(join(workspace.root, "a.txt"))).toBe(true)
  })

  terminalTest("and is denied there does nothing", async () => {
    using workspace = await asking()
    using terminal = runOn(workspace)
    await terminal.see("? help >")
    terminal.type("d")
    expect(await terminal.exitStatus()).toBe(33)
    expect(existsSync(join(workspace.root, "a.txt"))).toBe(false)
    const [approval] = await jsonIn(workspace, "approvals", "list", "--all")
    expect(approval).toMatchObject({ state: "refused", answeredBy: userName(), usedAt: null })
  })
})

test("what the record hides because it looks secret is approved by nobody who cannot see it", async () => {
  using agent = agentWorkspace()
  mkdirSync(join(agent.workspace.configHome, "acode"), { recursive: true, mode: 0o700 })
  writeFileSync(
    join(agent.workspace.configHome, "acode", "config.yml"),
    'schema_version: "1"\napprovals: { non_interactive: rest }\n',
  )
  const content = `export TOKEN=ghp_${"a1B2c3D4e5F6".repeat(3)}\n`
  agent.script(reply.plan({ write: ["other.txt"] }), reply.write("secret.sh", content), reply.finish())
  expect(await agent.run("--yes=plan")).toMatchObject({ exitCode: 10 })
  const [asked] = JSON.parse((await agent.acode("approvals", "list", "--json")).stdout)
  expect(asked).toMatchObject({ isRedacted: true, state: "open" })
  const approved = await agent.acode("approve", asked.id)
  expect(approved).toMatchObject({ stdout: "", stderr: expect.stringContaining("ACODE-APPR-005") })
  expect(approved.exitCode).not.toBe(0)
  expect((await agent.acode("approvals", "show", asked.id)).stdout).toContain("redacted from the record")
  expect(await agent.acode("deny", asked.id)).toMatchObject({ exitCode: 0 })
})
