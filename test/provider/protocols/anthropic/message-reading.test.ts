import { describe, expect, test } from "bun:test"
import { tooLongArguments } from "../../../../src/provider/limits.ts"
import { call, stop, text } from "../../provider-kit.ts"
import {
  calling,
  delta,
  ending,
  failureIn,
  jsonDelta,
  read,
  saying,
  started,
  stopped,
  textDelta,
  textIn,
} from "./anthropic-kit.ts"

describe("a streamed reply", () => {
  test("gives its text as it comes", () => {
    expect(read([...saying(0, "Hel", "lo"), ...ending("end_turn")])).toEqual([text("Hel"), text("lo"), stop])
  })

  test("gives text that a block begins with, and none that is empty", () => {
    const events = [started(0, { type: "text", text: "Well" }), textDelta(0, ""), textDelta(0, ", yes")]
    expect(textIn(read([...events, stopped(0), ...ending("end_turn")]))).toBe("Well, yes")
    expect(read([...saying(0, ""), ...ending("end_turn")])).toEqual([stop])
  })

  test("puts a call together from its pieces, and gives it when the reply is over", () => {
    const events = calling(0, "read_file", "", '{"pa', 'th":"a.ts"}')
    expect(read(events)).toEqual([])
    expect(read([...events, ...ending("tool_use")])).toEqual([
      call("toolu_0", "read_file", { path: "a.ts" }),
      { kind: "end", reason: "calls" },
    ])
  })

  test("takes a call without a piece as one without arguments", () => {
    expect(read([...calling(0, "list", ""), ...ending("tool_use")])[0]).toEqual(call("toolu_0", "list", {}))
  })

  test("keeps several calls in their order, also when their pieces are mixed", () => {
    const block = (index: number) => ({ type: "tool_use", id: `c${index}`, name: "t", input: {} })
    const mixed = [
      started(0, block(0)),
      started(1, block(1)),
      jsonDelta(1, '{"n":'),
      jsonDelta(0, '{"n":0}'),
      jsonDelta(1, "1}"),
      stopped(1),
      stopped(0),
    ]
    expect(read([...mixed, ...ending("tool_use")])).toEqual([
      call("c0", "t", { n: 0 }),
      call("c1", "t", { n: 1 }),
      { kind: "end", reason: "calls" },
    ])
  })

  test("passes over pings, unknown events, thinking and unknown blocks", () => {
    const events = [
      { type: "ping" },
      { type: "made_up_later", index: 0 },
      started(0, { type: "thinking", thinking: "" }),
      delta(0, { type: "thinking_delta", thinking: "hm" }),
      delta(0, { type: "signature_delta", signature: "abc" }),
      stopped(0),
      started(1, { type: "made_up_block" }),
      delta(1, { type: "made_up_delta", text: "no" }),
      stopped(1),
      ...saying(2, "yes"),
      ...ending("end_turn"),
    ]
    expect(read(events)).toEqual([text("yes"), stop])
  })

  test("takes text out of a block of an unknown kind, for it is output", () => {
    const events = [started(0, { type: "made_up_block" }), textDelta(0, "said"), stopped(0)]
    expect(read([...events, ...ending("end_turn")])).toEqual([text("said"), stop])
  })
})

describe("the end of a reply", () => {
  test("without the reason is none", () => {
    expect(failureIn(read([...saying(0, "x"), { type: "message_stop" }]))?.kind).toBe("malformed")
  })

  test("after a stop sequence is an ordinary one", () => {
    expect(read([...saying(0, "x"), ...ending("stop_sequence")]).at(-1)).toEqual(stop)
  })

  test("at the limit drops the call that was cut off, also when it looks whole", () => {
    for (const cut of ["", "{}", '{"path":"a', '{"path":"a"}']) {
      const items = read([...saying(0, "x"), ...calling(1, "t", cut), ...ending("max_tokens")])
      expect(items).toEqual([text("x"), { kind: "end", reason: "length" }])
    }
  })

  test("at the limit keeps the calls before the one that was cut off", () => {
    const items = read([...calling(0, "t", '{"n":0}'), ...calling(1, "t", '{"n"'), ...ending("max_tokens")])
    expect(items).toEqual([call("toolu_0", "t", { n: 0 }), { kind: "end", reason: "length" }])
  })

  test("at the limit keeps a call that was whole before text was cut off", () => {
    const items = read([...calling(0, "t", '{"n":0}'), ...saying(1, "and th"), ...ending("max_tokens")])
    expect(items.filter(({ kind }) => kind === "call")).toHaveLength(1)
  })

  test("by a refusal brings no call", () => {
    const items = read([...calling(0, "t", "{}"), ...ending("refusal")])
    expect(items).toEqual([{ kind: "end", reason: "refused" }])
  })

  test("for a reason that is not an ordinary one is a failure and brings no call", () => {
    const kinds = ["pause_turn", "model_context_window_exceeded", "compaction"].map(reason => {
      const items = read([...calling(0, "t", "{}"), ...ending(reason)])
      expect(items).toHaveLength(1)
      return failureIn(items)?.kind
    })
    expect(kinds).toEqual(["truncated", "contextTooLong", "malformed"])
  })

  test("says what came where the reason differs from it", () => {
    expect(read([...calling(0, "t", "{}"), ...ending("end_turn")]).at(-1)).toEqual({
      kind: "end",
      reason: "calls",
    })
    expect(failureIn(read([...saying(0, "x"), ...ending("tool_use")]))?.kind).toBe("malformed")
  })
})

describe("arguments that cannot be used", () => {
  test.each(['{"a":', "[1]", '"text"', "null", "{'a':1}", '{"a":1}}'])("%s are told as a problem", json => {
    const items = read([...calling(0, "t", json), ...ending("tool_use")])
    expect(items).toEqual([
      { kind: "problem", text: 'the arguments of a call of "t" are not a JSON object' },
      stop,
    ])
  })

  test("leave the other calls as they are", () => {
    const items = read([...calling(0, "a", "{"), ...calling(1, "b", "{}"), ...ending("tool_use")])
    expect(items.map(({ kind }) => kind)).toEqual(["problem", "call", "end"])
  })

  test("of ten million characters are reported as that, and calls beside them are made", () => {
    const pieces = ['{"a":"', ...Array.from({ length: 10 }, () => "x".repeat(1_000_000)), '"}']
    const items = read([...calling(0, "t", ...pieces), ...calling(1, "u", "{}"), ...ending("tool_use")])
    expect(items).toMatchObject([
      { kind: "problem", text: tooLongArguments("t") },
      { kind: "call", call: { tool: "u" } },
      { kind: "end", reason: "calls" },
    ])
  })

  test("that are nested so deep that a reader would overflow do not leave this room", () => {
    const deep = `{"a":${"[".repeat(20_000)}${"]".repeat(20_000)}}`
    expect(read([...calling(0, "t", deep), ...ending("tool_use")])).toMatchObject([
      {
        kind: "problem",
        text: "the arguments of the call of t cannot be used: one is nested more than 64 levels deep",
      },
      { kind: "end", reason: "stop" },
    ])
  })

  test("of many calls never take more room than a few of the longest", () => {
    const calls = Array.from({ length: 40 }, (_, index) =>
      calling(index, "t", '{"a":"', "x".repeat(900_000), '"}'),
    )
    const items = read([...calls.flat(), ...ending("tool_use")])
    const count = (kind: string) => items.filter(item => item.kind === kind).length
    expect([count("call"), count("problem")]).toEqual([17, 23])
  })
})

describe("events that make no reply", () => {
  test.each([
    ["a piece of a block that never began", [textDelta(0, "x")]],
    ["a piece of a block that is over", [...saying(0, "x"), textDelta(0, "y")]],
    ["an end of a block that never began", [stopped(3)]],
    ["a block that begins twice", [started(0, { type: "text" }), started(0, { type: "text" })]],
    ["a block without a number", [{ type: "content_block_start", content_block: { type: "text" } }]],
    ["a block without a kind", [started(0, {})]],
    ["a block that is none", [{ type: "content_block_start", index: 0, content_block: 7 }]],
    ["a call without an id", [started(0, { type: "tool_use", name: "t", input: {} })]],
    ["a call with an empty id", [started(0, { type: "tool_use", id: "", name: "t", input: {} })]],
    ["a call without a tool", [started(0, { type: "tool_use", id: "c", input: {} })]],
    ["a call that does not end", [...calling(0, "t", "{}").slice(0, -1), ...ending("tool_use")]],
    ["text that is none", [started(0, { type: "text" }), delta(0, { type: "text_delta", text: 7 })]],
    ["more blocks than anybody sends", Array.from({ length: 1_001 }, (_, at) => started(at, { type: "x" }))],
  ])("%s", (_, events) => {
    expect(failureIn(read(events))).toMatchObject({ kind: "malformed", retryable: true })
  })

  test("an error says what it is, whatever came before", () => {
    const overloaded = { type: "error", error: { type: "overloaded_error", message: "Overloaded" } }
    const failure = failureIn(read([...saying(0, "half"), overloaded]))
    expect(failure).toMatchObject({ kind: "overloaded", retryable: true })
    expect(failure?.message).toBe("the server broke off: overloaded_error: Overloaded")
  })

  test("an error of an unknown type may be gone later, one without any cannot be read", () => {
    expect(failureIn(read([{ type: "error", error: { type: "made_up" } }]))?.kind).toBe("unavailable")
    expect(failureIn(read([{ type: "error" }]))?.kind).toBe("malformed")
  })
})
