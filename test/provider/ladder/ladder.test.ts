import { describe, expect, test } from "bun:test"
import { type Rung, rungs } from "../../../src/domain/model-choice.ts"
import type { ModelItem } from "../../../src/provider/contract.ts"
import { withRung } from "../../../src/provider/ladder/ladder.ts"
import { failedItem, modelFailure } from "../../../src/provider/reply-fault.ts"
import { call, itemsOf, never, requestOf, stop, text } from "../provider-kit.ts"
import { block, callText, heard, heardText, listening, pieces, readTool, toolRequest } from "./ladder-kit.ts"

const json = callText("read_file", { path: "a" })
const cutOff: ModelItem = { kind: "end", reason: "length" }
const made = { id: "call_3_1", tool: "read_file", arguments: { path: "a" } }

describe("on the native rung", () => {
  test("the request goes out as it is", async () => {
    const provider = listening([stop])
    const request = toolRequest()
    await itemsOf(withRung(provider, "native").ask(request, never))
    expect(provider.asked).toEqual([request])
    expect(withRung(provider, "native").name).toBe("listening")
  })

  test("real calls come through with their ids, after the text", async () => {
    const items = [text("I look."), call("x1", "read_file", { path: "a" }), call("x2", "other"), stop]
    expect(await heard("native", items)).toMatchObject({
      text: "I look.",
      calls: [{ id: "x1" }, { id: "x2", tool: "other" }],
      problems: [],
      end: "stop",
    })
  })

  test("a printed call is made, and its text is neither shown nor kept", async () => {
    const reply = await heardText("native", `<think>Let me see.</think>\n${json}`)
    expect(reply).toMatchObject({ calls: [made], problems: [], end: "calls" })
    expect(reply.text).toBe("<think>Let me see.</think>")
    expect(reply.shown.join("")).toBe(reply.text)
  })

  test("several printed calls have ids of their own", async () => {
    const { calls } = await heardText("native", `[${json},${json}]`)
    expect(calls.map(({ id }) => id)).toEqual(["call_3_1", "call_3_2"])
  })

  test("a printed call beside a real one stays text", async () => {
    const reply = await heard("native", [text(json), call("x1", "read_file", { path: "b" }), stop])
    expect(reply).toMatchObject({ text: json, calls: [{ id: "x1" }], problems: [] })
  })

  test("prose is shown piece by piece", async () => {
    const { shown } = await heardText("native", "The step is done, I think.", 6)
    expect(shown).toEqual(["The st", "ep is ", "done, ", "I thin", "k."])
  })

  test.each([
    [`For example:\n\`\`\`json\n${json}\n\`\`\``, "a call of read_file is printed inside of other text"],
    [`${json}\nThis is how it would look.`, "the printed call of read_file"],
    ['{"name":"Skill","arguments":{}}', '"Skill" is not offered'],
    [`<tool_call>{"name":</tool_call>`, "line 1, column 9: expected a value"],
  ])("%j is kept as text, and reported as a problem", async (said, problem) => {
    const reply = await heardText("native", said)
    expect(reply).toMatchObject({ text: said, calls: [], end: "stop" })
    expect(reply.problems).toHaveLength(1)
    expect(reply.problems[0]).toContain(problem)
    expect(reply.problems[0]).toStartWith("nothing was called: ")
    expect(reply.problems[0]).toEndWith("Call tools by calling them, without printing the call as text.")
  })

  test.each(["", "Done.", '{"goal":"x"}', "```ts\nlet a = {}\n```", "<thin", "\n\n"])(
    "%j is an answer without problems",
    async said => {
      expect(await heardText("native", said)).toMatchObject({ text: said, calls: [], problems: [] })
    },
  )
})

describe("on the constrained rung", () => {
  test("an object is a call", async () => {
    const reply = await heardText("constrained", json)
    expect(reply).toMatchObject({ text: "", calls: [made], problems: [], end: "calls", shown: [] })
  })

  test("thinking before it is kept", async () => {
    const reply = await heardText("constrained", `<think>{"tool":"write_file"}</think>${json}`)
    expect(reply).toMatchObject({ calls: [made], text: '<think>{"tool":"write_file"}</think>' })
  })

  test.each([
    ["Done.", ' (line 1, column 1: expected a value and found "Done.")'],
    ["", " (line 1, column 1: expected a value and found the end)"],
    ['{"answer":', " (line 1, column 11: expected a value and found the end)"],
    ['{"answer":1}', ""],
    ["[]", ""],
  ])("%j is a problem that says what is expected", async (said, where) => {
    const { calls, problems } = await heardText("constrained", said)
    expect(calls).toEqual([])
    expect(problems).toEqual([
      `nothing was called: the answer is not one JSON object that calls a tool${where}. ` +
        'Answer with {"tool": NAME, "arguments": {…}} and nothing else.',
    ])
  })

  test("broken JSON is reported with its place", async () => {
    const { problems } = await heardText("constrained", '{"tool":"read_file","arguments":{"path":"a}}')
    expect(problems[0]).toContain(
      "line 1, column 45: expected the double quote that ends the text and found the end",
    )
  })

  test("a request without tools passes with its format", async () => {
    const provider = listening([stop])
    const request = requestOf({ format: { name: "plan", schema: { type: "object" } } })
    await itemsOf(withRung(provider, "constrained").ask(request, never))
    expect(provider.asked[0]).toBe(request)
  })
})

describe("on the text rung", () => {
  test("blocks are calls, and the prose around them is shown and kept", async () => {
    const said = `I read.\n${block("read_file", { path: "a" })}\nand\n${block("read_file", { path: "b" })}\n`
    const reply = await heardText("text", said, 3)
    expect(reply.calls).toEqual([made, { ...made, id: "call_3_2", arguments: { path: "b" } }])
    expect(reply.text).toBe("I read.\n\nand\n\n")
    expect(reply.shown.length).toBeGreaterThan(1)
    expect(reply.shown.join("")).toBe(reply.text)
  })

  test("a call printed otherwise is made as well", async () => {
    expect(await heardText("text", `\`\`\`json\n${json}\n\`\`\``)).toMatchObject({ calls: [made], text: "" })
    expect(await heardText("text", `<tool_call>${json}</tool_call>`)).toMatchObject({ calls: [made] })
  })

  test("a block that a model only considered is not made", async () => {
    const considered = `Maybe\n${block("read_file", { path: "a" })}\nno.`
    expect(await heardText("text", `<think>${considered}</think>Done.`)).toMatchObject({ calls: [] })
    const reply = await heardText("text", `${considered}</think>\nDone.`)
    expect(reply.calls).toEqual([])
    expect(reply.problems[0]).toContain("a call is printed inside of the thinking")
  })

  test("prose without a block is an answer", async () => {
    expect(await heardText("text", "Done.")).toMatchObject({ text: "Done.", calls: [], problems: [] })
  })

  test("a broken block is reported, and nothing of the reply is made", async () => {
    const said = `${block("read_file", { path: "a" })}\n\`\`\`tool\n{"tool": read_file}\n\`\`\``
    const reply = await heardText("text", said)
    expect(reply).toMatchObject({ calls: [], text: said })
    expect(reply.problems[0]).toContain('line 1, column 10: expected a value and found "read_file}')
  })

  test("a format of a request without tools becomes part of the prompt", async () => {
    const provider = listening([stop])
    const format = { name: "plan", schema: { type: "object" } }
    await itemsOf(withRung(provider, "text").ask(requestOf({ format }), never))
    expect(provider.asked[0]?.format).toBeNull()
  })
})

describe.each(rungs)("on the rung %s", rung => {
  const said = rung === "text" ? block("read_file", { path: "a" }) : json

  test("nothing is called by a reply that was cut off", async () => {
    const reply = await heard(rung, [...pieces(said, 4), cutOff])
    expect(reply).toMatchObject({ text: said, calls: [], end: "length" })
    expect(reply.problems[0]).toStartWith("the reply was cut off, so its calls are not made. ")
  })

  test("nothing is called by a reply cut off in its call", async () => {
    const reply = await heard(rung, [text(said.slice(0, 30)), cutOff])
    expect(reply).toMatchObject({ text: said.slice(0, 30), calls: [], end: "length" })
    expect(reply.problems).toHaveLength(1)
  })

  test("real calls of a reply that was cut off or is a refusal are not made", async () => {
    for (const reason of ["length", "refused"] as const) {
      const reply = await heard(rung, [call("x", "read_file"), { kind: "end", reason }])
      expect(reply).toMatchObject({ calls: [], end: reason })
      expect(reply.problems).toHaveLength(1)
    }
  })

  test("nothing is called by a reply that failed, and its text is kept", async () => {
    const failure = modelFailure("unavailable", "gone")
    const reply = await heard(rung, [
      ...pieces(said, 4),
      call("x", "read_file"),
      { kind: "failure", failure },
    ])
    expect(reply).toMatchObject({ text: said, calls: [], failure, end: null })
  })

  test("a reply without an end is one that broke off", async () => {
    expect(await heard(rung, pieces(said, 4))).toMatchObject({
      text: said,
      calls: [],
      failure: { kind: "truncated" },
    })
  })

  test("usage and problems of the provider pass", async () => {
    const items: ModelItem[] = [
      { kind: "problem", text: "odd" },
      text(said),
      { kind: "usage", input: 3, output: 4 },
      stop,
    ]
    expect(await heard(rung, items)).toMatchObject({
      problems: ["odd"],
      usage: { input: 3, output: 4 },
      calls: [made],
    })
  })

  test("calls without end are a failure and not a full memory", async () => {
    const many = Array.from({ length: 1_001 }, (_, index) => call(`x${index}`, readTool.name))
    expect((await heard(rung, [...many, stop])).failure?.message).toContain("more than 1000 tools")
  })
})

describe("a server that refuses a request with tools", () => {
  const refusal = failedItem("badRequest", "no tools")
  const told = async (rung: Rung, failure: ModelItem, request = toolRequest()) => {
    const order: string[] = []
    const model = withRung(listening([failure]), rung, async () => void order.push("told"))
    for await (const item of model.ask(request, never)) order.push(item.kind)
    return order
  }

  test.each(["native", "constrained"] as const)("on the rung %s is told before the failure", async rung => {
    expect(await told(rung, refusal)).toEqual(["told", "failure"])
  })

  test("is not refused where the manner of calling is not the reason", async () => {
    expect(await told("text", refusal)).toEqual(["failure"])
    expect(await told("native", failedItem("unavailable", "gone"))).toEqual(["failure"])
    expect(await told("native", refusal, requestOf())).toEqual(["failure"])
  })
})
