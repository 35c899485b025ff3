import { afterEach, beforeEach, expect, test } from "bun:test"
import { existsSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { type Acode, type ApprovalPrompt, Failure, openAcode } from "../../../src/library.ts"
import { runAcode } from "../../support/acode.ts"
import { check } from "../../support/checker/checker.ts"
import { greeting } from "../../support/script-replies.ts"
import { type TempWorkspace, tempWorkspace } from "../../support/workspace/temp-workspace.ts"

let temp: TempWorkspace
let acode: Acode
const notices: string[] = []
beforeEach(() => {
  temp = tempWorkspace()
  const variables = { ...temp.environment, HOME: temp.outside }
  acode = openAcode(temp.root, { variables, notice: text => notices.push(text) })
})
afterEach(async () => {
  await acode.close()
  // Whatever a test did, what it recorded is sound.
  expect(await check(temp)).toEqual([])
  temp[Symbol.dispose]()
})

const typed = (...args: readonly string[]) =>
  runAcode(args, { cwd: temp.root, env: { ...temp.environment, HOME: temp.outside } })

const read = (path: string) => readFileSync(join(temp.root, path), "utf8")

async function failureOf(work: Promise<unknown>): Promise<string> {
  try {
    await work
    return "none"
  } catch (error) {
    return error instanceof Failure ? error.report.code : String(error)
  }
}

const step = (path: string, more: object = {}) => ({
  step_id: "s1",
  tool: "file_write",
  arguments: { path, contents: "hello\n" },
  ...more,
})
const planText = (...steps: readonly object[]) =>
  JSON.stringify({ plan_id: "p", intent: "MUTATE", evidence_referenced: [], steps })

test("a program runs a command, which is confined, bounded and recorded like one that is typed", async () => {
  const seen: string[] = []
  const { result } = await acode.exec(["sh", "-c", 'echo "$GREETING"; exit 7'], {
    environment: { GREETING: "hello" },
    onOutput: (stream, chunk) => void seen.push(`${stream} ${new TextDecoder().decode(chunk)}`),
  })
  expect([result.exitCode, result.success, result.stdout, seen]).toEqual([
    7,
    false,
    "hello\n",
    ["stdout hello\n"],
  ])
  const late = await acode.exec(["sleep", "60"], { timeoutMs: 100 })
  expect(late.result.ending).toBe("timedOut")
  const stopped = await acode.exec(["sleep", "60"], { signal: AbortSignal.timeout(100) })
  expect(stopped.result.ending).toBe("cancelled")
  expect(await failureOf(acode.exec(["true"], { cwd: "../outside" }))).toBe("ACODE-SEC-005")
  await acode.close()
  const { stdout } = await typed("runs", "list", "--json")
  expect(JSON.parse(stdout)).toHaveLength(3)
})

test("a program approves a plan and runs exactly that one", async () => {
  const plan = planText(step("hello.txt"))
  expect(await failureOf(acode.runPlan(plan))).toBe("E002")
  expect(await failureOf(acode.approvePlan("{"))).toBe("E001")
  expect((await acode.approvePlan(plan)).planId).toBe("p")
  const report = await acode.runPlan(plan)
  expect([report.exit_code, read("hello.txt")]).toEqual([0, "hello\n"])
  expect(await failureOf(acode.runPlan(planText(step("other.txt"))))).toBe("E002")
  await acode.close()
  expect((await typed("session", "undo", "--yes")).exitCode).toBe(0)
  expect([existsSync(join(temp.root, "hello.txt")), existsSync(join(temp.root, "other.txt"))]).toEqual([
    false,
    false,
  ])
})

test("what a step of a plan asks is answered by the program, and denied where it answers nothing", async () => {
  const plan = planText(step("asked.txt", { requires_confirmation: true }))
  await acode.approvePlan(plan)
  expect([(await acode.runPlan(plan)).exit_code, existsSync(join(temp.root, "asked.txt"))]).toEqual([
    33,
    false,
  ])
  const asked: string[] = []
  const answer: ApprovalPrompt = async ({ approval: { operation } }) => {
    asked.push(operation)
    return { answer: "granted", reason: null }
  }
  expect([(await acode.runPlan(plan, { answer })).exit_code, read("asked.txt")]).toEqual([0, "hello\n"])
  expect(asked).toEqual([expect.stringContaining("asked.txt")])
})

test("a program works on a goal, and rests where the answer of a person is needed", async () => {
  const script = join(temp.outside, "replies.json")
  writeFileSync(script, JSON.stringify({ replies: greeting() }))
  const rested = await acode.run("add a greeting", { script })
  expect([rested.state, rested.exitCode]).toEqual(["AWAITING_APPROVAL", 10])
  const types: string[] = []
  const done = await acode.run("add a greeting", {
    onEvent: ({ type }) => types.push(type),
    script,
    yes: "plan,file_write",
  })
  expect([done.state, done.exitCode, done.unverified]).toEqual(["COMPLETED", 0, false])
  expect([types[0], types.at(-1)]).toEqual(["session.started", "session.finished"])
  expect(await failureOf(acode.run(" ", { script }))).toBe("ACODE-CLI-003")
  expect(await failureOf(acode.run("goal", { script, yes: "everything" }))).toStartWith("ACODE-YES-")
  await acode.close()
  const { stdout } = await typed("session", "list", "--json")
  expect(JSON.parse(stdout).map(({ id }: { readonly id: string }) => id)).toEqual([
    done.sessionId,
    rested.sessionId,
  ])
})
