import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { readYes } from "../../../src/app/policy-yes.ts"
import {
  type PolicyQuestion,
  type PolicyQuestions,
  policyQuestions,
} from "../../../src/app/verbs/policy-questions.ts"
import { type WireRequest, Wiring } from "../../../src/app/wiring/wire.ts"
import { readEnvironment } from "../../../src/config/environment.ts"
import type { PathOperation } from "../../../src/domain/effect.ts"
import { missingSandbox, testWhere } from "../../support/requirement.ts"
import { type TempWorkspace, tempWorkspace } from "../../support/workspace/temp-workspace.ts"

const confinedTest = testWhere(missingSandbox)

let workspace: TempWorkspace
let wiring: Wiring
let questions: PolicyQuestions

beforeAll(() => {
  workspace = tempWorkspace({ git: true, files: { "src/a.ts": "a\n", ".env": "KEY=1\n" } })
  const { root } = workspace
  symlinkSync("src/a.ts", join(root, "link-to-source"))
  symlinkSync(".env", join(root, "link-to-secrets"))
  symlinkSync("/etc/hostname", join(root, "link-out"))
  symlinkSync("../nowhere", join(root, "link-to-nothing-outside"))
  mkdirSync(join(root, "deep/er"), { recursive: true })
  wiring = wiringOf(root)
  questions = policyQuestions(wiring)
})
afterAll(() => {
  wiring[Symbol.dispose]()
  workspace[Symbol.dispose]()
})

function wiringOf(root: string, request: Partial<WireRequest> = {}): Wiring {
  const environment = readEnvironment(workspace.environment)
  return new Wiring({ environment, workspace: root, configFile: undefined, ...request })
}

const path = (typed: string, op: PathOperation) => questions.answer({ path: typed, op })

describe("a path", () => {
  test("is decided by the defaults: reading is free, changing is asked", async () => {
    expect(await path("src/a.ts", "read")).toMatchObject({ decision: "allow", confined: false })
    expect(await path("src", "list")).toMatchObject({ decision: "allow" })
    expect(await path("src/a.ts", "write")).toMatchObject({ decision: "ask", rule: "default.FILE_WRITE" })
    expect(await path("src/a.ts", "delete")).toMatchObject({ decision: "ask", rule: "default.FILE_DELETE" })
  })

  test("need not exist", async () => {
    expect(await path("not/there/yet.ts", "write")).toMatchObject({ decision: "ask" })
    expect(await path("not/there/../yet.ts", "read")).toMatchObject({ decision: "allow" })
  })

  test("may be absolute", async () => {
    expect(await path(join(workspace.root, "src/a.ts"), "read")).toMatchObject({ decision: "allow" })
    expect(await path(join(workspace.root, ".env"), "read")).toMatchObject({ decision: "deny" })
  })

  test("is judged by where its symlinks lead", async () => {
    expect(await path("link-to-source", "read")).toMatchObject({ decision: "allow" })
    const secrets = await path("link-to-secrets", "read")
    expect(secrets.decision).toBe("deny")
    expect(secrets.rule).toMatch(/^protected:/)
    for (const link of ["link-out", "link-to-nothing-outside"])
      expect(await path(link, "write")).toMatchObject({ decision: "deny", rule: "workspace.outside" })
  })

  test("is refused when it does not look like what it is", async () => {
    expect(await path("src/\u202egpj.a", "read")).toMatchObject({
      decision: "deny",
      rule: "workspace.malformed",
    })
    expect(await path("", "read")).toMatchObject({ decision: "deny" })
  })

  test.each(["../a", "deep/../../a", "/srv/a"])("is refused outside: %s", async typed => {
    expect(await path(typed, "read")).toMatchObject({ decision: "deny" })
  })
})

describe("a command", () => {
  confinedTest("that is ordinary is allowed inside a sandbox, in all its forms", async () => {
    const forms: PolicyQuestion[] = [
      { argv: ["npm", "test"] },
      { command: "npm test" },
      { argv: ["sh", "-c", "npm test | tail -5"] },
    ]
    for (const form of forms)
      expect(await questions.answer(form)).toMatchObject({ decision: "allow", confined: true })
  })

  test("that destroys is refused, in all its forms", async () => {
    const forms: PolicyQuestion[] = [
      { argv: ["rm", "-rf", "/"] },
      { command: "echo hello; rm -rf /" },
      { argv: ["bash", "-c", "rm -rf /"] },
    ]
    for (const form of forms) expect(await questions.answer(form)).toMatchObject({ decision: "deny" })
  })

  test("that talks to the network is asked", async () => {
    expect(await questions.answer({ argv: ["git", "push"] })).toMatchObject({
      decision: "ask",
      rule: "commands.network",
    })
  })

  test("that cannot be read is never allowed", async () => {
    for (const command of ["", "echo 'unfinished", "if true"])
      expect((await questions.answer({ command })).decision, command).not.toBe("allow")
  })
})

describe("what a person configured", () => {
  const configured = async (yaml: string, question: PolicyQuestion, yes?: string) => {
    const environment = readEnvironment({
      ...workspace.environment,
      XDG_CONFIG_HOME: join(workspace.outside, "own-config"),
    })
    mkdirSync(join(environment.xdgConfigHome, "acode"), { recursive: true })
    writeFileSync(join(environment.xdgConfigHome, "acode/config.yml"), `schema_version: "1"\n${yaml}\n`)
    const more = yes === undefined ? {} : { yes: readYes(yes, false) }
    using own = wiringOf(workspace.root, { environment, ...more })
    return await policyQuestions(own).answer(question)
  }
  const write = { path: "src/a.ts", op: "write" } as const

  test("is no sandbox: then every command is asked about", async () => {
    const answer = await configured("execution:\n  sandbox: none", { argv: ["npm", "test"] })
    expect(answer).toMatchObject({ decision: "ask", confined: false })
    expect(answer.reason).toContain("no sandbox")
  })

  test("decides: defaults, rules and what --yes answers", async () => {
    expect(await configured("approvals: { file_write: deny }", write)).toMatchObject({ decision: "deny" })
    const rule = "rules: [{ name: sources, operation: file_write, pattern: 'src/**', policy: auto }]"
    expect(await configured(rule, write)).toMatchObject({ decision: "allow", rule: "sources" })
    expect(await configured("", write, "file_write")).toMatchObject({ decision: "allow" })
    expect(await configured("", write, "terminal")).toMatchObject({ decision: "ask" })
  })

  test("decides on where a symlink leads, not only on what it is called", async () => {
    const rule = "rules: [{ name: frozen, operation: file_write, pattern: 'src/**', policy: skip }]"
    expect(await configured(rule, { path: "link-to-source", op: "write" })).toMatchObject({
      decision: "deny",
      rule: "frozen",
    })
  })

  test("to run without a sandbox is asked about, since nothing confines it", async () => {
    const answer = await configured("execution: { sandbox: none }", { argv: ["npm", "test"] })
    expect(answer).toMatchObject({ decision: "ask", confined: false })
  })
})
