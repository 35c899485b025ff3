import { expect, test } from "bun:test"
import { mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import type { PlanReport } from "../../src/engine/lanes/plan-result.ts"
import { childEnvironment } from "../../src/exec/environment.ts"
import { createRedactor } from "../../src/redaction/redactor.ts"
import { environmentRules as rules } from "../../src/redaction/secret-names.ts"
import { toolchains } from "../../src/sandbox/view/toolchains.ts"
import { repositoryRoot, runAcode } from "../support/acode.ts"
import { planWorkspace } from "../support/plan/plan-workspace.ts"

type Variable = readonly [name: string, value: string]

/** The variables of a list: `NAME=value`, a name may be there twice. */
function listed(file: string): readonly Variable[] {
  const text = readFileSync(join(repositoryRoot, "test/scenarios/environment", file), "utf8")
  const lines = text.split("\n").filter(line => line !== "" && !line.startsWith("#"))
  return lines.map(line => [line.slice(0, line.indexOf("=")), line.slice(line.indexOf("=") + 1)])
}

const withheld = listed("withheld.txt")
const passed = listed("passed.txt")

const redactor = createRedactor({ secretValues: [], extraPatterns: [] })

function isPassed([name, value]: Variable, owner: "person" | "agent"): boolean {
  const host = { [name]: value }
  const request = { executionId: "exe_1", mode: "inherit", command: {}, exclude: [], include: [] } as const
  const redactText = (text: string) => redactor.redactText(text)
  return Object.hasOwn(childEnvironment({ ...request, owner, host, rules, redactText }), name)
}

test("a person's own command gets none of the variables that hold or open a credential, and the others", () => {
  expect(withheld.length).toBeGreaterThan(150)
  expect(passed.length).toBeGreaterThan(100)
  expect(withheld.filter(variable => isPassed(variable, "person"))).toEqual([])
  expect(passed.filter(variable => !isPassed(variable, "person"))).toEqual([])
})

test("a command of a model or a plan gets no variable that a person's own does not get", () => {
  expect(withheld.filter(variable => isPassed(variable, "agent"))).toEqual([])
  const named = passed.filter(variable => isPassed(variable, "agent")).map(([name]) => name)
  expect(named).toContain("CARGO_HOME")
  for (const name of ["EDITOR", "AWS_PROFILE", "GITHUB_REPOSITORY", "API_BASE_URL", "GOFLAGS", "CC"])
    expect(named).not.toContain(name)
})

test("and it finds each toolchain that the sandbox shows", () => {
  const variables = new Set(toolchains.flatMap(({ variable }) => variable ?? []))
  expect([...variables].filter(name => !isPassed([name, "/opt/it"], "agent"))).toEqual([])
})

test("both at work: exec inherits what is harmless, a plan what is listed or configured", async () => {
  using room = planWorkspace()
  const { workspace } = room
  const added = new Map([...withheld, ...passed].filter(([name]) => !(name in workspace.environment)))
  const env = { ...Object.fromEntries(added), ...workspace.environment, CARGO_HOME: "/opt/cargo" }
  mkdirSync(join(workspace.configHome, "acode"), { recursive: true })
  writeFileSync(
    join(workspace.configHome, "acode/config.yml"),
    'schema_version: "1"\nexecution: { environment: { include: [PATH, PROJECT_NAME] } }\n',
  )
  const acode = (...args: readonly string[]) => runAcode(args, { cwd: workspace.root, env })

  const own = await acode("exec", "--", "env")
  const ownNames = namesIn(own.stdout)
  expect(own.exitCode).toBe(0)
  expect(withheld.filter(([name]) => ownNames.has(name) && !passed.some(([kept]) => kept === name))).toEqual(
    [],
  )
  expect(passed.filter(([name]) => !ownNames.has(name))).toEqual([])

  room.plan([["run_command", { argv: ["env"] }]])
  expect((await acode("plan", "approve", room.planFile)).exitCode).toBe(0)
  const run = await acode("plan", "run", room.planFile, "--json")
  const report: PlanReport = JSON.parse(run.stdout)
  const names = namesIn(report.step_results[0]?.stdout ?? "")
  expect([run.exitCode, names.has("PROJECT_NAME"), names.has("CARGO_HOME")]).toEqual([0, true, true])
  for (const name of ["EDITOR", "SSH_AUTH_SOCK", "HTTPS_PROXY", "CI_COMMIT_AUTHOR", "OP_SESSION_my"])
    expect(names.has(name)).toBe(false)
})

function namesIn(output: string): ReadonlySet<string> {
  return new Set(output.split("\n").map(line => line.split("=", 1)[0] ?? ""))
}
