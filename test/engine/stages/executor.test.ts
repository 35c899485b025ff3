import { describe, expect, test } from "bun:test"
import type { StepState } from "../../../src/domain/pipeline/state.ts"
import type { ModelMessage } from "../../../src/provider/contract.ts"
import {
  callOf,
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

const { executor } = stages
const plan = planVersion(smallPlan)
const [present] = stepsOf(plan.plan)

function stepWith(action: string): StepState {
  if (present === undefined) throw new Error("the plan has no step")
  return { ...present, step: { ...present.step, kind: "open", action } }
}

function offered(action: string): readonly string[] {
  return executor.offered(viewOf(stateOf(), { step: stepWith(action) })).map(({ name }) => name)
}

describe("what an executor is told", () => {
  test("is its step, the task and the plan around it and the feedback, as data", () => {
    const task = {
      ...smallTask,
      steps: [
        { id: "s0", title: "look", description: "Look.", action: "READ_FILE" },
        ...smallTask.steps,
        { id: "s2", title: "try it", description: "Run it.", action: "RUN_COMMAND", depends_on: ["s1"] },
      ],
    }
    const version = planVersion({ ...smallPlan, tasks: [task] })
    const steps = stepsOf(version.plan).map((step, index) => ({
      ...step,
      status: (["done", "active", "pending"] as const)[index] ?? "pending",
    }))
    const stage = stageRun({ stage: "executor", feedback: ["a1: exit code 1"] })
    const messages = executor.messages(
      viewOf(stateOf({ stage, steps, plans: [version] }), {
        step: steps[1] ?? null,
        instructions: [{ path: "AGENTS.md", text: "Use tabs." }],
      }),
    )
    expect(messages.map(({ role }) => role)).toEqual(["system", "user"])
    expect(unmarked(messages[1]?.text ?? "")).toMatchInlineSnapshot(`
      "Do step s1.

      <<<request MARK
      Validate e-mail addresses.
      MARK>>>

      <<<project instructions "AGENTS.md" MARK
      Use tabs.
      MARK>>>

      <<<step "s1" MARK
      action: WRITE_FILE
      title: write it
      Write src/email.ts.
      MARK>>>

      <<<task "t1" MARK
      title: validator
      Add a validator.
      resources: {"commands":[["npm","test"]],"hosts":[],"read":["src/**"],"write":["src/email.ts"]}
      must hold in the end:
      - {"command":["npm","test"],"expect_exit":0,"id":"a1","kind":"command"}
      - {"id":"a2","kind":"judgement","text":"errors are clear"}
      MARK>>>

      <<<plan MARK
      goal: validate addresses
      t1/s0 look: done
      t1/s1 write it: this step
      t1/s2 try it: pending
      MARK>>>

      <<<feedback MARK
      a1: exit code 1
      MARK>>>"
    `)
  })

  test("is after each turn its calls, and their results in the order of the calls", () => {
    const turns = [
      turnOf({
        turn: 1,
        text: "Let me look.",
        calls: [callOf("c1", "read_file", "one", { path: "a" }), callOf("c2", "glob", "two")],
      }),
      turnOf({
        turn: 2,
        failure: { kind: "overloaded", message: "busy", retryable: true, retryAfterMs: null },
      }),
      turnOf({ turn: 2, text: "I think I am done." }),
      turnOf({ turn: 3, calls: [callOf("c1", "write_file", "")] }),
    ]
    const messages = executor.messages(viewOf(stateOf({ turns }), { step: present ?? null })).slice(2)
    expect(messages).toEqual([
      {
        role: "assistant",
        text: "Let me look.",
        calls: [
          { id: "c1", tool: "read_file", arguments: { path: "a" } },
          { id: "c2", tool: "glob", arguments: {} },
        ],
      },
      { role: "tool", callId: "c1", text: "one" },
      { role: "tool", callId: "c2", text: "two" },
      { role: "assistant", text: "I think I am done.", calls: [] },
      {
        role: "user",
        text: "Nothing was called. Call a tool to continue, or finish_step when the step is done.",
      },
      { role: "assistant", text: "", calls: [{ id: "c1", tool: "write_file", arguments: {} }] },
      { role: "tool", callId: "c1", text: "succeeded" },
    ])
  })

  test("shows the last ten results whole, and older ones as one line, five at a time", () => {
    const turns = Array.from({ length: 8 }, (_, index) =>
      turnOf({
        turn: index + 1,
        calls: [
          callOf(`a${index}`, "read_file", "A".repeat(500)),
          callOf(`b${index}`, "glob", "B".repeat(201)),
        ],
      }),
    )
    const resultsOf = (count: number) =>
      executor
        .messages(viewOf(stateOf({ turns: turns.slice(0, count) }), { step: present ?? null }))
        .flatMap(message => (message.role === "tool" ? [message.text] : []))
    const isWhole = (text: string) => /^(A{500}|B{201})$/.test(text)
    expect(resultsOf(7).filter(isWhole)).toHaveLength(14)
    const results = resultsOf(8)
    expect(results).toHaveLength(16)
    expect(results.slice(0, 2)).toEqual([
      "[succeeded; 500 characters are not shown any more, kept as evidence sha256:a0: call read_file again to see them]",
      "[succeeded; 201 characters are not shown any more, kept as evidence sha256:b0: call glob again to see them]",
    ])
    expect(results.map(isWhole)).toEqual([...Array(5).fill(false), ...Array(11).fill(true)])
  })

  test("begins as the request before it, except where results become old", () => {
    const turns = Array.from({ length: 21 }, (_, at) =>
      turnOf({ turn: at + 1, calls: [callOf(`c${at}`, "read_file", "A".repeat(500))] }),
    )
    const told = (count: number) =>
      executor.messages(viewOf(stateOf({ turns: turns.slice(0, count) }), { step: present ?? null }))
    const goesOn = (count: number) => {
      const before = told(count - 1)
      return Bun.deepEquals(told(count).slice(0, before.length), before)
    }
    const changing = turns.map((_, at) => at + 1).filter(count => !goesOn(count))
    expect(changing).toEqual([15, 20])
  })

  test("is exactly what was wrong with an answer, with and without calls in it", () => {
    const problems = ['the call of "write_file" is no JSON: it ends in a text', "the answer was cut off"]
    const turns = [
      turnOf({ turn: 1, text: "{", problems }),
      turnOf({ turn: 2, calls: [callOf("c1", "glob", "two")], problems: ["there is no tool wriet_file"] }),
    ]
    const messages = executor.messages(viewOf(stateOf({ turns }), { step: present ?? null })).slice(2)
    expect(messages.map(({ role }) => role)).toEqual(["assistant", "user", "assistant", "tool", "user"])
    expect([messages[1]?.text, messages[4]?.text]).toEqual([
      "Something in that answer could not be used:\n" +
        '- the call of "write_file" is no JSON: it ends in a text\n- the answer was cut off\n' +
        "Nothing was called. Call a tool to continue, or finish_step when the step is done.",
      "Something in that answer could not be used:\n- there is no tool wriet_file",
    ])
  })

  test("keeps an older result that is no longer than the line in its place", () => {
    const old = [callOf("a", "write_file", "wrote a.txt, 5 bytes"), callOf("b", "modify_file", "")]
    const newer = Array.from({ length: 10 }, (_, at) => callOf(`c${at}`, "glob", "x".repeat(500)))
    const turns = [turnOf({ calls: [...old, ...newer] })]
    const messages = executor.messages(viewOf(stateOf({ turns }), { step: present ?? null }))
    expect(messages.slice(3, 5).map(({ text }) => text)).toEqual(["wrote a.txt, 5 bytes", "succeeded"])
  })

  test("still says why an older call failed", () => {
    const failed = { outcome: "failed", certainty: "notDone", text: "not found", digest: "d" } as const
    const old = { ...callOf("a", "read_file", ""), result: failed }
    const turns = [
      turnOf({ calls: [old, ...Array.from({ length: 10 }, (_, at) => callOf(`b${at}`, "glob", "x"))] }),
    ]
    const [, , , first] = executor.messages(viewOf(stateOf({ turns }), { step: present ?? null }))
    expect(first?.text).toBe("not found")
  })

  test("is a valid transcript whatever the turns were", () => {
    const kinds = [
      turnOf({ text: "x" }),
      turnOf({ calls: [callOf("1", "glob", "r"), callOf("2", "glob", "r"), callOf("3", "glob", null)] }),
      turnOf({ failure: { kind: "timeout", message: "", retryable: true, retryAfterMs: null } }),
    ]
    for (let seed = 0; seed < 81; seed++) {
      const turns = [0, 1, 2, 3].flatMap(place => kinds[Math.floor(seed / 3 ** place) % 3] ?? [])
      expectValid(executor.messages(viewOf(stateOf({ turns }), { step: present ?? null })))
    }
  })
})

/** After an assistant come exactly the results of its calls, and never two assistants in a row. */
function expectValid(messages: readonly ModelMessage[]): void {
  for (const [at, message] of messages.entries()) {
    if (message.role !== "assistant") continue
    const following = messages.slice(at + 1, at + 1 + message.calls.length)
    expect(following.map(each => (each.role === "tool" ? each.callId : each.role))).toEqual(
      message.calls.map(({ id }) => id),
    )
    expect(messages[at + 1 + message.calls.length]?.role).not.toBe("tool")
    expect(messages[at + 1]?.role).not.toBe("assistant")
  }
}

describe("the tools of a step", () => {
  const reading = ["read_file", "list_directory", "search_code", "glob"]
  const codeReading = ["symbols_in_file", "references_to_symbol_name", "references_from_file_to_symbol_name"]
  const codeTools = [...codeReading, "splice_patch", "splice_plan", "lsp_check"]

  test("are also questions about code where there is an index", () => {
    const view = viewOf(stateOf(), { step: stepWith("ANALYZE_CODE"), hasCodeIndex: true })
    expect(
      executor
        .offered(view)
        .map(({ name }) => name)
        .toSorted(),
    ).toEqual([...reading, ...codeReading, "finish_step"].toSorted())
  })

  test("are those for reading when it only reads", () => {
    for (const action of ["READ_FILE", "ANALYZE_CODE"])
      expect(offered(action).toSorted()).toEqual([...reading, "finish_step"].toSorted())
  })

  test("are also commands when it runs one", () => {
    expect(offered("RUN_COMMAND").toSorted()).toEqual([...reading, "run_command", "finish_step"].toSorted())
  })

  test("do not delete unless the step is about that", () => {
    for (const action of ["WRITE_FILE", "MODIFY_FILE", "CREATE_FILE", "CREATE_DIRECTORY"]) {
      expect(offered(action)).toContain("write_file")
      expect(offered(action)).not.toContain("delete_file")
    }
    expect(offered("DELETE_FILE")).toContain("delete_file")
    expect(offered("DELETE_FILE")).not.toContain("write_file")
  })

  test("are all of them when code is generated or mended, use_skill where there are skills, code tools where an index is", () => {
    for (const action of ["GENERATE_CODE", "FIX"]) {
      const shown = executor.offered(
        viewOf(stateOf(), { step: stepWith(action), skills: "- a: b", hasCodeIndex: true }),
      )
      expect(shown.map(({ name }) => name).toSorted()).toEqual([...executor.tools].toSorted())
      expect(offered(action).toSorted()).toEqual(
        executor.tools.filter(name => name !== "use_skill" && !codeTools.includes(name)).toSorted(),
      )
    }
  })

  test("always let it finish, and are described with all of their arguments", () => {
    const all = executor.offered(viewOf(stateOf(), { step: stepWith("FIX") }))
    expect(all.find(({ name }) => name === "finish_step")).toEqual({
      name: "finish_step",
      description:
        "Says that the step is finished, after everything it asks for has been done; status failed when it cannot be " +
        "done. Call it alone.",
      parameters: {
        type: "object",
        properties: { summary: { type: "string" }, status: { type: "string", enum: ["done", "failed"] } },
        required: ["summary"],
        additionalProperties: false,
      },
    })
    expect(all.find(({ name }) => name === "read_file")?.parameters).toEqual({
      type: "object",
      properties: {
        path: { type: "string" },
        from_line: { type: "integer", minimum: 1 },
        line_count: { type: "integer", minimum: 1 },
      },
      required: ["path"],
      additionalProperties: false,
    })
  })
})
