import { chmodSync, existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import fc from "fast-check"
import type { ApprovalQuestion } from "../../../src/app/approval-desk.ts"
import type { ModelReply, ModelRequest } from "../../../src/provider/contract.ts"
import { type AgentRoom, agentRoom } from "../agent/agent-room.ts"
import { missingSandbox } from "../requirement.ts"
import { open, reply } from "../script-replies.ts"

/**
 * A program that records where and how it was run, in a ledger outside of the tree. No shipped rule allows it, so each
 * line needs a question that a person granted, or the rule of this person for `free`.
 */
const tool = (ledger: string) => `#!/bin/sh\necho "\${PWD##*/workspace}|$*" >> ${ledger}\n`
const files = { tool: tool("ledger"), "sub/tool": tool("../ledger"), ".gitignore": "ledger\n" }
const rules = [{ name: "free", operation: "TERMINAL_COMMAND", policy: "auto", command: "./tool free" }]

const words = fc.constantFrom("a", "b", "c", "free")
const someArgv = fc.array(words, { minLength: 1, maxLength: 2 }).map(more => ["./tool", ...more])
const someRun = fc.record({ argv: someArgv, cwd: fc.constantFrom(".", "sub") })
const someStep = fc.record({
  run: someRun,
  id: fc.constantFrom("x", "y", "z"),
  isConfirmed: fc.nat(3).map(dice => dice === 0),
})
const somePlan = fc.record({
  criteria: fc.array(fc.record({ argv: someArgv, exit: fc.constantFrom(0, 0, 0, 0, 0, 0, 0, 1) }), {
    maxLength: 2,
  }),
  resources: fc.array(someArgv, { maxLength: 2 }),
  steps: fc.uniqueArray(someStep, { maxLength: 3, selector: ({ id }) => id }),
  calls: fc.array(someRun, { maxLength: 2 }),
  isOpenFirst: fc.boolean(),
})
/** Plans that follow each other are often nearly the same, which is where a grant may be kept. */
const somePlans = fc
  .tuple(
    somePlan,
    fc.array(fc.tuple(somePlan, fc.subarray(["criteria", "resources", "steps"] as const)), { maxLength: 2 }),
  )
  .map(([first, more]) => {
    const plans = [first]
    for (const [plan, kept] of more) {
      const before = plans.at(-1) ?? plan
      plans.push({ ...plan, ...Object.fromEntries(kept.map(name => [name, before[name]])) })
    }
    return plans
  })
/** Plans that follow each other, what a model calls, and what people answer. */
export const replannedSession = fc.record({
  plans: somePlans,
  isConfined: missingSandbox === null ? fc.nat(3).map(dice => dice > 0) : fc.constant(false),
  isAttended: fc.boolean(),
  hasTests: fc.boolean(),
  answers: fc.infiniteStream(fc.nat(3).map(dice => dice > 0)),
})
type Run = { readonly argv: readonly string[]; readonly cwd: string }
type PlanChoice = typeof somePlan extends fc.Arbitrary<infer Choice> ? Choice : never
type SessionChoice = typeof replannedSession extends fc.Arbitrary<infer Choice> ? Choice : never

/** Runs a session and returns each line of the ledger that no person or rule allowed before it was written. */
export async function unadmittedRuns(choice: SessionChoice): Promise<readonly string[]> {
  const unadmitted: string[] = []
  const admitted = new Admitted(choice)
  const ledger = () => linesOf(join(room.workspace.root, "ledger"))
  const ask = (question: Pick<ApprovalQuestion["approval"], "kind" | "operation" | "callId">) => {
    // What was run until now was admitted by what was granted until now.
    unadmitted.push(...admitted.without(ledger()))
    const isGranted = choice.answers.next().value
    if (isGranted) admitted.add(question, callOf(room, question.callId))
    return isGranted ? ("granted" as const) : ("refused" as const)
  }
  const prompt = async ({ approval }: ApprovalQuestion) => ({ answer: ask(approval), reason: null })
  using room = await agentRoom([reply.finish()], {
    files,
    git: true,
    yes: "none",
    surface: { acceptsPlans: false, isInteractive: choice.isAttended, prompt },
    config: {
      rules,
      approvals: { non_interactive: "rest" },
      ...(choice.isConfined ? {} : { execution: { sandbox: "none" } }),
      ...(choice.hasTests ? { commands: { test: testCommand } } : {}),
    },
  })
  for (const name of ["tool", "sub/tool"]) chmodSync(join(room.workspace.root, name), 0o755)
  const model = modelOf(choice.plans)
  for (let drives = 0; drives < 12; drives++) {
    const rest = await room.drive({ ask: async request => model(request) })
    const waiting = room.store.approvals.list({ open: true })
    if (rest.exitCode !== 10 || waiting.length === 0) break
    for (const asked of waiting)
      room.store.approvals.answer({
        approvalId: asked.id,
        answer: ask(asked),
        by: "grace",
        via: "command",
        reason: null,
      })
  }
  return [...unadmitted, ...admitted.without(ledger())]
}

const testCommand = ["./tool", "test"]

/** The runs that people and rules allowed, computed from the questions alone and not from results of acode. */
class Admitted {
  private readonly always: Run[] = []
  private readonly prefixes: (readonly string[])[] = []
  private readonly once: Run[] = []

  constructor(private readonly choice: SessionChoice) {}

  add(question: { readonly kind: string; readonly operation: string }, call: Run | null): void {
    if (question.kind !== "plan") {
      if (call !== null) this.once.push(call)
      return
    }
    const version = Number(/^run plan version (\d+)/.exec(question.operation)?.[1])
    const plan = planAt(this.choice.plans, version)
    // A step to be confirmed is asked about again.
    this.once.push(...plan.steps.filter(({ isConfirmed }) => !isConfirmed).map(({ run }) => run))
    // Without a sandbox only calls that are written down were shown as what they are.
    if (!this.choice.isConfined) return
    this.prefixes.push(...plan.resources)
    this.always.push(...plan.criteria.map(({ argv }) => ({ argv, cwd: "." })))
    if (this.choice.hasTests) this.always.push({ argv: testCommand, cwd: "." })
  }

  /** Returns the lines of the ledger that nothing allowed. */
  without(ledger: readonly string[]): readonly string[] {
    const once = this.once.map(lineOf)
    return ledger.filter(line => {
      if (this.always.some(run => lineOf(run) === line) || this.isPrefixed(line)) return false
      const at = once.indexOf(line)
      if (at !== -1) once.splice(at, 1)
      return at === -1
    })
  }

  private isPrefixed(line: string): boolean {
    const [, args = ""] = line.split("|")
    const argv = ["./tool", ...args.split(" ")]
    const free = this.choice.isConfined ? [["./tool", "free"]] : []
    return [...this.prefixes, ...free].some(prefix => prefix.every((word, index) => argv[index] === word))
  }
}

function lineOf({ argv, cwd }: Run): string {
  return `${cwd === "." ? "" : `/${cwd}`}|${argv.slice(1).join(" ")}`
}

function linesOf(file: string): readonly string[] {
  return existsSync(file) ? readFileSync(file, "utf8").split("\n").slice(0, -1) : []
}

/** Returns the recorded arguments of a call. */
function callOf(room: AgentRoom, callId: string | null): Run | null {
  const requested = room.data("tool_call.requested").find(call => call["callId"] === callId)
  if (requested === undefined) return null
  // as: the shape of the event, and of the arguments of `run_command`.
  const { value } = requested["arguments"] as { readonly value: Partial<Run> }
  return value.argv === undefined ? null : { argv: value.argv, cwd: value.cwd ?? "." }
}

function planAt(plans: readonly PlanChoice[], version: number): PlanChoice {
  const plan = plans[Math.min(version, plans.length) - 1]
  if (plan === undefined) throw new Error(`there is no plan version ${version}`)
  return plan
}

/** A model that does as the choices say, re-plans while it has plans, and calls everything by the same id. */
function modelOf(plans: readonly PlanChoice[]): (request: ModelRequest) => ModelReply {
  let [version, called, turn] = [0, 0, 0]
  return ({ stage }) => {
    if (stage === "planner") {
      ;[version, called] = [version + 1, 0]
      return saying(JSON.stringify(planText(planAt(plans, version), version)))
    }
    if (stage !== "executor") {
      const decision = version < plans.length ? "replan" : "approve"
      return saying(JSON.stringify({ decision, summary: decision }))
    }
    const next = planAt(plans, version).calls[called++]
    if (next !== undefined) return calling("run_command", next)
    turn += 1
    return turn % 2 === 1
      ? calling("write_file", { path: "made.txt", content: `${turn}\n` })
      : calling("finish_step", { summary: "done" })
  }
}

function saying(text: string): ModelReply {
  return { ...nothing, text, end: "stop" }
}

function calling(name: string, args: Readonly<Record<string, unknown>>): ModelReply {
  // as: what the choices hold is JSON.
  const call = { id: "call_1", tool: name, arguments: args as ModelReply["calls"][number]["arguments"] }
  return { ...nothing, calls: [call], end: "calls" }
}

const nothing = { text: "", calls: [], problems: [], usage: { input: 0, output: 0 }, failure: null }

function planText({ criteria, resources, steps, isOpenFirst }: PlanChoice, version: number) {
  const free = open(`open${version}`, "GENERATE_CODE")
  const written = steps.map(({ id, run, isConfirmed }) => ({
    id,
    tool: "run_command",
    arguments: run,
    ...(isConfirmed ? { requires_confirmation: true } : {}),
  }))
  return reply.plan({
    write: ["made.txt"],
    commands: resources,
    acceptance: criteria.map(({ argv, exit }, index) => ({
      id: `a${index}`,
      kind: "command",
      command: argv,
      expect_exit: exit,
    })),
    steps: isOpenFirst ? [free, ...written] : [...written, free],
  })["plan"]
}
