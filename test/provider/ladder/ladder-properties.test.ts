import { describe, expect, test } from "bun:test"
import fc from "fast-check"
import type { Json } from "../../../src/base/canonical.ts"
import { rungs } from "../../../src/domain/model-choice.ts"
import type { ModelCall } from "../../../src/provider/contract.ts"
import { withRung } from "../../../src/provider/ladder/ladder.ts"
import { ownCallId } from "../../../src/provider/limits.ts"
import { itemsOf, never, stop } from "../provider-kit.ts"
import { heard, listening, offered, pieces, toolRequest } from "./ladder-kit.ts"

/** Everything that could end a block, a string or a tag early. */
const nasty = fc.constantFrom(
  ...[
    "```",
    "\n```\n",
    "```tool\n",
    "{",
    "}",
    "[",
    "]",
    '"',
    "\\",
    "\\u",
    "'",
    "\n",
    "\r\n",
    "\u2028",
    "\u0000",
  ],
  ...[
    "</tool_call>",
    "<tool_call>",
    "</function>",
    "[TOOL_CALLS]",
    "<think>",
    "</think>",
    "<|python_tag|>",
    ";",
  ],
  ...["é", "日本", "😀", "\ud800", "x", " "],
)
const nastyText = fc.oneof(
  fc.array(nasty, { maxLength: 8 }).map(parts => parts.join("")),
  fc.string(),
)
const argument: fc.Arbitrary<Json> = fc.oneof(
  nastyText,
  fc.integer(),
  fc.boolean(),
  fc.constant(null),
  fc.array(nastyText, { maxLength: 3 }),
  fc.dictionary(
    nastyText.filter(name => name !== "__proto__"),
    nastyText,
    { maxKeys: 2 },
  ),
)
const args = fc.dictionary(
  nastyText.filter(name => name !== "__proto__" && name !== "properties"),
  argument,
  { maxKeys: 4 },
)
const call = fc.record({ tool: fc.constantFrom(...offered), arguments: args })
const size = fc.integer({ min: 1, max: 40 })

function numbered(calls: readonly Omit<ModelCall, "id">[]): ModelCall[] {
  return calls.map(({ tool, arguments: given }, index) => ({
    id: ownCallId(3, index + 1),
    tool,
    arguments: given,
  }))
}

describe("a call comes back as it was written", () => {
  test.each(["constrained", "text"] as const)(
    "from the transcript of the rung %s, however it is cut",
    async rung => {
      const calls = fc.array(call, { minLength: 1, maxLength: rung === "text" ? 3 : 1 })
      await fc.assert(
        fc.asyncProperty(calls, size, async (made, cut) => {
          const provider = listening([stop])
          const messages = [{ role: "assistant" as const, text: "", calls: numbered(made) }]
          await itemsOf(withRung(provider, rung).ask(toolRequest({ messages }), never))
          const written = provider.asked[0]?.messages.find(({ role }) => role === "assistant")?.text ?? ""
          const reply = await heard(rung, [...pieces(written, cut), stop])
          expect(reply.problems).toEqual([])
          expect(reply.calls).toEqual(numbered(made))
          expect(reply.text.trim()).toBe("")
        }),
      )
    },
  )

  const manners: readonly (readonly [name: string, write: (call: Omit<ModelCall, "id">) => string])[] = [
    ["bare JSON", ({ tool, arguments: given }) => JSON.stringify({ name: tool, arguments: given })],
    ["indented", ({ tool, arguments: given }) => JSON.stringify({ tool, args: given }, null, 2)],
    [
      "text in JSON",
      ({ tool, arguments: given }) => JSON.stringify({ tool, arguments: JSON.stringify(given) }),
    ],
    ["a fence", made => `\`\`\`json\n${JSON.stringify(made)}\n\`\`\``],
    ["a tag", made => `<tool_call>\n${JSON.stringify(made)}\n</tool_call>`],
    ["a function", ({ tool, arguments: given }) => `<function=${tool}>${JSON.stringify(given)}</function>`],
    ["a list", made => `[TOOL_CALLS][${JSON.stringify(made)}]`],
    [
      "python",
      ({ tool, arguments: given }) => `<|python_tag|>${JSON.stringify({ name: tool, parameters: given })}`,
    ],
  ]
  describe.each(rungs)("on the rung %s", rung => {
    test.each(manners)("printed as %s", async (_, write) => {
      await fc.assert(
        fc.asyncProperty(
          call,
          size,
          fc.constantFrom("", "\n", "<think>so {x}</think>\n"),
          async (made, cut, before) => {
            const reply = await heard(rung, [...pieces(before + write(made), cut), stop])
            expect(reply.calls).toEqual(numbered([made]))
            expect(reply.text.trim()).toBe(before.trim())
          },
        ),
        { numRuns: 25 },
      )
    })
  })
})

describe("whatever a model says", () => {
  const piece = fc.oneof(
    nasty,
    call.map(made => JSON.stringify(made)),
    fc.constantFrom(
      '{"name":"Skill","arguments":{}}',
      '{"tool":"rm","input":{}}',
      "<function=rm>{}",
      "```tool\n",
      "```json\n",
    ),
    fc.constantFrom('{"tool":', '"arguments":', '"read_file"', ",", "for example "),
    fc.json(),
  )
  const said = fc.array(piece, { maxLength: 8 }).map(parts => parts.join(""))
  const end = fc.constantFrom("stop", "calls", "length", "refused")

  test.each(rungs)(
    "on the rung %s only offered tools are called, and nothing is thrown or lost",
    async rung => {
      await fc.assert(
        fc.asyncProperty(said, size, end, async (text, cut, reason) => {
          const reply = await heard(rung, [...pieces(text, cut), { kind: "end", reason }])
          expect(reply.failure).toBeNull()
          expect(reply.calls.every(({ tool }) => offered.has(tool))).toBe(true)
          expect(reply.shown.join("")).toBe(reply.text)
          if (reason === "length" || reason === "refused") expect(reply.calls).toEqual([])
          if (reply.calls.length === 0) expect(reply.text).toBe(text)
          else expect(reply.end).toBe("calls")
        }),
        { numRuns: 200 },
      )
    },
  )

  test.each(rungs)("on the rung %s it means the same however it is cut", async rung => {
    await fc.assert(
      fc.asyncProperty(said, size, async (text, cut) => {
        const [whole, cutUp] = await Promise.all([
          heard(rung, [...pieces(text, text.length + 1), stop]),
          heard(rung, [...pieces(text, cut), stop]),
        ])
        expect({ ...cutUp, shown: [] }).toEqual({ ...whole, shown: [] })
      }),
      { numRuns: 100 },
    )
  })
})
