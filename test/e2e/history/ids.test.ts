import { Database } from "bun:sqlite"
import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { readdirSync } from "node:fs"
import { dirname, join } from "node:path"
import { openService } from "../../../src/app/local-service.ts"
import type { RecordedKind } from "../../../src/app/recorded-id.ts"
import type { AppService } from "../../../src/app/service.ts"
import { printable } from "../../../src/base/text.ts"
import { cliCommands } from "../../../src/cli/commands/table.ts"
import type { CliCommand } from "../../../src/cli/definition.ts"
import { Output } from "../../../src/cli/output.ts"
import { parseLine } from "../../../src/cli/parse/parse.ts"
import { readEnvironment } from "../../../src/config/environment.ts"
import { exitCodeOf, Failure } from "../../../src/domain/failure.ts"
import { type AgentWorkspace, agentWorkspace } from "../../support/agent/agent-workspace.ts"
import { reply } from "../../support/script-replies.ts"

/** A place of a command line that takes an id. */
interface Slot {
  readonly command: CliCommand
  readonly kind: RecordedKind
  /** The line with this in the place. */
  line(typed: string): readonly string[]
}

let agent: AgentWorkspace
let app: AppService
let ids: Readonly<Record<RecordedKind, readonly string[]>>

beforeAll(async () => {
  agent = agentWorkspace()
  const { workspace, acode } = agent
  for (const name of ["first", "second", "third"]) {
    workspace.write(`${name}.json`, planOf(name))
    expect((await acode("plan", "approve", `${name}.json`)).exitCode).toBe(0)
    expect((await acode("plan", "run", `${name}.json`)).exitCode).toBe(0)
    agent.script(
      reply.plan({ write: ["a.txt"], acceptance: [{ id: "a1", kind: "file_exists", path: "a.txt" }] }),
    )
    expect((await agent.run()).exitCode).toBe(10)
  }
  ids = recordedIds(workspace.state("workspace.db"))
  app = openService({
    environment: readEnvironment(agent.environment),
    workspace: workspace.root,
    configFile: undefined,
    notice: () => undefined,
  })
})

afterAll(async () => {
  await app.close()
  agent[Symbol.dispose]()
})

/** Two steps that run something, in a task whose name no other plan has. */
function planOf(name: string): string {
  const step = (id: string) => ({ id, title: id, tool: "run_command", arguments: { argv: ["true"] } })
  const task = {
    id: `task-${name}`,
    title: name,
    resources: {},
    acceptance: [],
    steps: [step("s1"), step("s2")],
  }
  return JSON.stringify({
    plan_id: name,
    goal: name,
    intent: "MUTATE",
    tasks: [task],
    evidence_referenced: [],
  })
}

/** Read from the events themselves, with nothing of the code that looks ids up. */
function recordedIds(path: string): typeof ids {
  using database = new Database(path, { readonly: true })
  const ask = (sql: string) =>
    database
      .query<{ id: string }, []>(`SELECT DISTINCT ${sql} AND id IS NOT NULL ORDER BY position`)
      .all()
      .map(row => row.id)
  const streams = (prefix: string, type: string) =>
    ask(`stream AS id FROM events WHERE stream LIKE '${prefix}!_%' ESCAPE '!' AND type = '${type}'`)
  const within = (field: string, type: string) =>
    ask(`json_extract(data, '$.${field}') AS id FROM events WHERE type = '${type}'`)
  const session = streams("ses", "session.started")
  const execution = within("executionId", "command.started")
  const approval = within("approvalId", "approval.requested")
  const planApproval = streams("apr", "plan.approved")
  return {
    session,
    execution,
    stream: [...session, ...execution],
    run: within("correlationIds.runId", "command.started"),
    task: within("correlationIds.taskId", "command.started"),
    approval,
    planApproval,
    anyApproval: [...approval, ...planApproval],
    evidence: within("callId", "tool_call.requested"),
    checkpoint: readdirSync(join(dirname(path), "checkpoints/manifests")).map(name =>
      name.replace(".json", ""),
    ),
  }
}

function slotsOf(command: CliCommand): readonly Slot[] {
  const words = command.name.split(" ")
  const asArgument = command.arguments.flatMap(({ id: kind }) =>
    kind === undefined ? [] : [{ command, kind, line: (typed: string) => [...words, "--", typed] }],
  )
  const needed = command.arguments.filter(({ optional }) => !optional).map(() => "first.json")
  const asFlag = Object.entries(command.flags).flatMap(([name, spec]) =>
    spec.kind !== "id"
      ? []
      : [{ command, kind: spec.of, line: (typed: string) => [...words, ...needed, `--${name}=${typed}`] }],
  )
  return [...asArgument, ...asFlag]
}

const slots = cliCommands.flatMap(slotsOf)

/** The shortest part of an id that no other id of its kind begins or ends with. */
function uniquePart(id: string, kind: RecordedKind, part: (id: string, length: number) => string): string {
  for (let length = 4; length <= id.length; length++) {
    const typed = part(id, length)
    if (ids[kind].filter(other => other.startsWith(typed) || other.endsWith(typed)).length === 1) return typed
  }
  throw new Error(`${id} has no part of its own`)
}

const spellings: readonly ((id: string, kind: RecordedKind) => string)[] = [
  (id, kind) => uniquePart(id, kind, (whole, length) => whole.slice(0, length)),
  (id, kind) => uniquePart(id, kind, (whole, length) => whole.slice(-length)),
  id => id,
]

test("everything that is called ID is declared as one", () => {
  const undeclared = cliCommands.flatMap(({ name, arguments: words, flags }) => [
    ...words.filter(word => word.name === "ID" && word.id === undefined).map(() => `${name} ID`),
    ...Object.entries(flags).flatMap(([flag, spec]) =>
      "value" in spec && spec.value === "ID" && spec.kind !== "id" ? [`${name} --${flag}`] : [],
    ),
  ])
  expect(undeclared).toEqual([])
  expect(slots.length).toBeGreaterThan(24)
})

describe("an id that names nothing, or too much", () => {
  const hostile = [
    "%",
    "_",
    "*",
    "?",
    "[a-z]*",
    "ses_%",
    "' OR 1=1 --",
    "\n",
    "a\nb",
    "\u001b[2J",
    "x".repeat(9999),
  ]

  test("is refused by every command, with what to type instead", async () => {
    for (const slot of slots)
      for (const typed of ["", " ", "zzzzzzzz", "ses_00000000", ...hostile]) {
        const { report } = await refusalOf(slot, typed)
        expect([slot.command.name, typed, report.code]).toEqual([
          slot.command.name,
          typed,
          expect.stringMatching(/^ACODE-(CLI-004|APPR-001)$/),
        ])
        expect(exitCodeOf(report.kind)).toBe(2)
        expect(report.hint).toMatch(/`acode .*`/)
        expect(report.message).toBe(printable(report.message).replaceAll("\n", ""))
        expect(report.message.length).toBeLessThan(200)
      }
  })

  test("is refused with the candidates when it fits several", async () => {
    for (const slot of slots) {
      const all = ids[slot.kind]
      expect(all.length).toBeGreaterThan(2)
      const [first = ""] = all
      const typed = first.slice(0, 4)
      const fitting = all.filter(id => id.startsWith(typed))
      const { report } = await refusalOf(slot, typed)
      expect([slot.command.name, report.code]).toEqual([slot.command.name, "ACODE-CLI-005"])
      expect(exitCodeOf(report.kind)).toBe(2)
      const named = fitting.filter(id => report.message.includes(id))
      expect(named.length).toBe(Math.min(4, fitting.length))
    }
  })

  test("says so with exit code 2 where a filter would have found nothing", async () => {
    const { exitCode, stdout, stderr } = await agent.acode("runs", "list", "--session-id", "zzzzzzzz")
    expect([exitCode, stdout]).toEqual([2, ""])
    expect(stderr).toBe(
      'error ACODE-CLI-004: no session has the id "zzzzzzzz"\n  → `acode session list` shows the ids\n',
    )
  })

  async function refusalOf({ command, line }: Slot, typed: string): Promise<Failure> {
    const parsed = parseLine(line(typed), cliCommands)
    const output = new Output({ color: false, quiet: true, json: false })
    const terminal = { stdin: false, stdout: false, stderr: false }
    const environment = readEnvironment(agent.environment)
    const service = async () => app
    const cwd = process.cwd()
    try {
      process.chdir(agent.workspace.root)
      const code = await command.run(parsed, {
        globals: parsed.globals,
        output,
        environment,
        terminal,
        service,
      })
      throw new Error(`acode ${line(typed).join(" ")} was accepted: ${code}`)
    } catch (error) {
      if (error instanceof Failure) return error
      throw error
    } finally {
      process.chdir(cwd)
    }
  }
})

describe("the beginning of an id, its end and the whole of it", () => {
  for (const slot of slots)
    test(`name the same thing: ${slot.line("ID").join(" ")}`, async () => {
      for (const [index, spelling] of spellings.entries()) {
        const id = ids[slot.kind][index] ?? ""
        const script = slot.command.name === "resume" ? ["--script", agent.scriptFile] : []
        const args = [
          ...slot.line(spelling(id, slot.kind)).toSpliced(slot.command.name.split(" ").length, 0, ...script),
        ]
        const { stdout, stderr } = await agent.acode(...args)
        expect([args, stderr]).toEqual([
          args,
          expect.not.stringMatching(/has the id|" fits|ACODE-(CLI-00[1235]|INT-)/),
        ])
        // Reading verbs print what was asked for.
        if (stdout !== "" && slot.command.name.endsWith("show")) expect(stdout).toContain(id.slice(-8))
      }
    })

  test("are refused when the argument and the flag name two sessions", async () => {
    const [first = "", second = ""] = ids.session
    const { exitCode, stderr } = await agent.acode("session", "show", first, "--session-id", second)
    expect([exitCode, stderr]).toEqual([2, expect.stringContaining("ACODE-CLI-003")])
  })

  test("narrow a listing down to the same executions", async () => {
    const [first = ""] = ids.session
    const listed = async (typed: string) =>
      JSON.parse((await agent.acode("runs", "list", "--json", "--session-id", typed)).stdout)
    const whole = await listed(first)
    for (const spelling of spellings) expect(await listed(spelling(first, "session"))).toEqual(whole)
    expect(new Set(whole.map((row: { sessionId: string }) => row.sessionId))).toEqual(new Set([first]))
  })
})
