import { describe, expect, test } from "bun:test"
import fc from "fast-check"
import { type ServerEvent, sseReader } from "../../../src/provider/transport/sse.ts"
import { cutAt, faultOf, takenFrom } from "./transport-kit.ts"

const eventsIn = (...pieces: (string | Uint8Array)[]) => takenFrom<ServerEvent>(pieces, sseReader)

describe("server-sent events", () => {
  test("have a name or none, and data", async () => {
    expect(eventsIn('event: ping\ndata: {"a":1}\n\ndata: b\n\n')).toEqual([
      { event: "ping", data: '{"a":1}' },
      { event: null, data: "b" },
    ])
  })

  test("the name does not stay for the next one", async () => {
    expect(eventsIn("event: a\n\ndata: 1\n\nevent: b\nevent:\ndata: 2\n\n")).toEqual([
      { event: null, data: "1" },
      { event: null, data: "2" },
    ])
  })

  test("data over several lines is joined by line feeds", async () => {
    expect(eventsIn("data: a\ndata:\ndata\ndata:  b\n\n")).toEqual([{ event: null, data: "a\n\n\n b" }])
  })

  test("one space behind the colon belongs to the field, and none is needed", async () => {
    expect(eventsIn("data:a:b\n\n")).toEqual([{ event: null, data: "a:b" }])
    expect(eventsIn("data:  a \n\n")).toEqual([{ event: null, data: " a " }])
    expect(eventsIn("data:\ta\n\n")).toEqual([{ event: null, data: "\ta" }])
  })

  test("comments, ids, times and fields no one knows are left out", async () => {
    const stream = ": keep-alive\n:\nid: 7\nretry: 10\nDATA: x\n data: y\nnonsense\ndata: a\n: b\n\n: c\n\n"
    expect(eventsIn(stream)).toEqual([{ event: null, data: "a" }])
  })

  test("without data there is no event, with empty data there is", async () => {
    expect(eventsIn("event: a\n\n\n\nid: 1\n\n")).toEqual([])
    expect(eventsIn("event: a\ndata\n\n")).toEqual([{ event: "a", data: "" }])
  })

  test("the last one needs no empty line behind it, nor an end of its line", async () => {
    expect(eventsIn("data: a\n\ndata: b\n")).toEqual([
      { event: null, data: "a" },
      { event: null, data: "b" },
    ])
    expect(eventsIn("event: e\ndata: [DONE]")).toEqual([{ event: "e", data: "[DONE]" }])
    expect(eventsIn("event: e")).toEqual([])
  })

  test("may begin with a byte order mark and end their lines as they like", async () => {
    const expected = [
      { event: "a", data: "1\n2" },
      { event: null, data: "3" },
    ]
    expect(eventsIn("\ufeffevent: a\r\ndata: 1\rdata: 2\n\r\ndata: 3\r\r")).toEqual(expected)
  })

  test("are reported when they end and not when the next one comes", () => {
    const taken: ServerEvent[] = []
    const reader = sseReader({ take: event => void taken.push(event), end: () => undefined })
    reader.take(Buffer.from("data: a\n\n"))
    expect(taken).toEqual([{ event: null, data: "a" }])
  })

  test("of more than 16 MB in many short lines are refused", async () => {
    const lines = Buffer.from(`data: ${"a".repeat(1023)}\n`.repeat(1024))
    const most = Array.from({ length: 16 }, () => lines)
    expect(eventsIn(...most, "\n")).toHaveLength(1)
    const failure = await faultOf(() => eventsIn(...most, "data: a\n\n"))
    expect(failure.kind).toBe("malformed")
    expect(failure.message).toContain("an event of more than")
  })
})

describe("any way to cut a stream into chunks gives the same events", () => {
  const word = fc.constantFrom("a", "é", "🦊", " ", ":", '{"x":1}', "[DONE]")
  const value = fc.array(word, { maxLength: 4 }).map(words => words.join(""))
  const end = fc.constantFrom("\n", "\r\n", "\r")
  const field = fc
    .tuple(fc.constantFrom("data: ", "data:", "event: ", ": ", "id: ", "data", ""), value, end)
    .map(([name, text, ending]) => (name === "" ? ending : `${name}${text}${ending}`))

  test("at random places and at every single byte", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(field, { maxLength: 20 }),
        fc.array(fc.nat(), { maxLength: 12 }),
        async (fields, places) => {
          const bytes = Buffer.from(fields.join(""))
          const whole = eventsIn(bytes)
          expect(eventsIn(...cutAt(bytes, places))).toEqual(whole)
          expect(eventsIn(...cutAt(bytes, [...bytes.keys()]))).toEqual(whole)
        },
      ),
      { numRuns: 300 },
    )
  })

  test("what was written as events is read as those", async () => {
    const event = fc.record({
      event: fc.option(fc.constantFrom("delta", "message_stop"), { nil: null }),
      data: fc.array(value, { minLength: 1, maxLength: 3 }).map(lines => lines.join("\n")),
    })
    await fc.assert(
      fc.asyncProperty(
        fc.array(event, { maxLength: 6 }),
        end,
        fc.array(fc.nat(), { maxLength: 8 }),
        async (events, ending, places) => {
          const text = events.map(({ event: name, data }) => {
            const lines = data.split("\n").map(line => `data: ${line}${ending}`)
            return `${name === null ? "" : `event: ${name}${ending}`}${lines.join("")}${ending}`
          })
          expect(eventsIn(...cutAt(Buffer.from(text.join("")), places))).toEqual(events)
        },
      ),
      { numRuns: 300 },
    )
  })
})
