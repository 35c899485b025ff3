import { describe, expect, test } from "bun:test"
import type { StageAnswer } from "../../../src/engine/stages/contract.ts"
import {
  planVersion,
  smallPlan,
  smallTask,
  stageRun,
  stages,
  stateOf,
  stepsOf,
  turnOf,
  unmarked,
  viewOf,
} from "./support.ts"

const { planner } = stages

function read(text: string): StageAnswer {
  return planner.read?.(text, viewOf(stateOf())) ?? { problems: ["it reads nothing"] }
}

/** The small plan with its task changed. */
function planWith(task: object): string {
  return JSON.stringify({ ...smallPlan, tasks: [{ ...smallTask, ...task }] })
}

describe("what a planner is told", () => {
  test("is the request, the outline and the instructions, each as data", () => {
    const view = viewOf(stateOf({ stage: stageRun({}) }), {
      outline: "2 files",
      instructions: [{ path: "AGENTS.md", text: "Use tabs." }],
    })
    const [system, user, ...more] = planner.messages(view)
    expect(more).toEqual([])
    expect(system).toMatchObject({ role: "system" })
    expect(user?.role === "user" ? unmarked(user.text) : "").toMatchInlineSnapshot(`
      "Plan what the request asks for. Keep to the project instructions where they are about how to work here.

      <<<request MARK
      Validate e-mail addresses.
      MARK>>>

      <<<outline of the repository MARK
      2 files
      MARK>>>

      <<<project instructions "AGENTS.md" MARK
      Use tabs.
      MARK>>>"
    `)
  })

  test("is, when a plan is made again, also the earlier plans, what is done and the feedback", () => {
    const version = planVersion(smallPlan)
    const steps = stepsOf(version.plan).map(step => ({
      ...step,
      status: "done" as const,
      changedPaths: ["src/email.ts"],
      commandCount: 1,
    }))
    const stage = stageRun({ feedback: ["the review asks for another plan", "major src/email.ts: no tests"] })
    const messages = planner.messages(viewOf(stateOf({ stage, steps, plans: [version] })))
    expect(unmarked(messages[1]?.text ?? "")).toMatchInlineSnapshot(`
      "Plan what the request asks for. Keep to the project instructions where they are about how to work here.

      <<<request MARK
      Validate e-mail addresses.
      MARK>>>

      <<<outline of the repository MARK

      MARK>>>

      <<<earlier plan "version 1" MARK
      {"goal":"validate addresses","intent":"MUTATE","tasks":[{"id":"t1","title":"validator","description":"Add a validator.","complexity":2,"depends_on":[],"resources":{"read":["src/**"],"write":["src/email.ts"],"commands":[["npm","test"]],"hosts":[]},"acceptance":[{"id":"a1","kind":"command","command":["npm","test"],"expect_exit":0},{"id":"a2","kind":"judgement","text":"errors are clear"}],"steps":[{"id":"s1","title":"write it","description":"Write src/email.ts.","action":"WRITE_FILE","depends_on":[]}]}]}
      MARK>>>

      <<<steps so far MARK
      t1/s1 write it: done; changed src/email.ts; 1 command run
      MARK>>>

      This is version 2 of the plan. Give the whole plan again: keep finished tasks and their steps exactly as they are, they are not done again; change or add what the feedback is about.

      <<<feedback MARK
      the review asks for another plan
      major src/email.ts: no tests
      MARK>>>"
    `)
  })

  test("shows an earlier plan exactly as a planner could write it", () => {
    const version = planVersion(smallPlan)
    const user = planner.messages(viewOf(stateOf({ plans: [version] })))[1]?.text ?? ""
    const shown = /earlier plan "version 1" \w+\n(.*)\n/.exec(user)?.[1] ?? ""
    const { plan_id: _id, evidence_referenced: _evidence, ...written } = smallPlan
    expect(JSON.parse(shown)).toEqual(written)
    expect(read(shown).problems).toBeUndefined()
  })

  test("has every problem of every earlier try, exactly, behind the answer it is about", () => {
    const turns = [
      turnOf({ turn: 1, text: "nope", problems: ["there is no JSON object"] }),
      turnOf({
        turn: 2,
        failure: { kind: "timeout", message: "too slow", retryable: true, retryAfterMs: null },
      }),
      turnOf({ turn: 2, text: "{}", problems: ["$.goal: is missing (E001)", "$.tasks: is missing (E001)"] }),
    ]
    expect(planner.messages(viewOf(stateOf({ turns }))).slice(2)).toEqual([
      { role: "assistant", text: "nope", calls: [] },
      {
        role: "user",
        text: "That answer cannot be used:\n- there is no JSON object\nAnswer again with the whole JSON object, and nothing else.",
      },
      { role: "assistant", text: "{}", calls: [] },
      {
        role: "user",
        text: "That answer cannot be used:\n- $.goal: is missing (E001)\n- $.tasks: is missing (E001)\nAnswer again with the whole JSON object, and nothing else.",
      },
    ])
  })

  test("is the same for the same state", () => {
    const view = viewOf(stateOf({ plans: [planVersion(smallPlan)] }), { outline: "x" })
    expect(planner.messages(view)).toEqual(planner.messages(view))
  })
})

describe("what a planner answers", () => {
  test("is the plan as it was written, fenced or not", () => {
    expect(read(JSON.stringify(smallPlan))).toEqual({ output: smallPlan })
    expect(read(`Here it is:\n\`\`\`json\n${JSON.stringify(smallPlan, null, 2)}\n\`\`\``)).toEqual({
      output: smallPlan,
    })
  })

  test("may leave out what acode can fill in", () => {
    const { plan_id: _id, evidence_referenced: _evidence, ...rest } = smallPlan
    expect(read(JSON.stringify(rest))).toEqual({ output: rest })
  })

  test("is told everything that is wrong with it at once", () => {
    const steps = [
      { id: "s1", tool: "file_wirte", arguments: {} },
      { id: "s1", action: "FLY", description: "x" },
    ]
    expect(read(planWith({ steps, depends_on: ["t9"] }))).toEqual({
      problems: [
        '$.tasks[0].depends_on[0]: "t9" does not exist here (E001)',
        '$.tasks[0].steps[0].tool: unknown tool "file_wirte"; did you mean file_write? (E201)',
        "$.tasks[0].steps[1].action: must be one of READ_FILE, WRITE_FILE, MODIFY_FILE, CREATE_FILE, DELETE_FILE, CREATE_DIRECTORY, RUN_COMMAND, ANALYZE_CODE, GENERATE_CODE (E001)",
        '$.tasks[0].steps[1].id: "s1" is used twice as an id (E001)',
      ],
    })
  })

  test("cannot wait for itself", () => {
    const steps = [
      { id: "s1", action: "READ_FILE", description: "x", depends_on: ["s2"] },
      { id: "s2", action: "READ_FILE", description: "x", depends_on: ["s1"] },
    ]
    expect(read(planWith({ steps }))).toEqual({
      problems: ['$.tasks[0].steps[0].depends_on: waits for itself: "s1" → "s2" → "s1" (E001)'],
    })
  })

  test.each(["/etc/passwd", "../other/a.ts", "src/../../a.ts", "~/x", "C:\\x", "..\\x"])(
    "has no resource or criterion at %s",
    path => {
      const acceptance = [{ id: "a1", kind: "file_exists", path }]
      const told = `${JSON.stringify(path).replaceAll("\\\\", "\\")} must be relative to the workspace, without ".."`
      expect(read(planWith({ acceptance, resources: { read: ["src/**"], write: [path] } }))).toEqual({
        problems: [`$.tasks[0].resources.write[0]: ${told}`, `$.tasks[0].acceptance[0].path: ${told}`],
      })
    },
  )

  test("that is no JSON is refused with what is expected instead", () => {
    expect(read("Sure, I will do that.")).toEqual({
      problems: ["the answer contains no JSON object; answer with one and nothing else"],
    })
    expect(read('{"goal": "x",}').problems?.[0]).toStartWith("$: the text is not valid JSON: ")
  })
})
