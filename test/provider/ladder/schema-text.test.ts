import { describe, expect, test } from "bun:test"
import type { Json } from "../../../src/base/canonical.ts"
import { schemaText } from "../../../src/provider/ladder/rung-request.ts"
import { nested } from "../provider-kit.ts"

describe("a schema in a prompt", () => {
  const shapes: readonly (readonly [schema: Json, text: string])[] = [
    [{ type: "string", minLength: 1 }, "string"],
    [{ type: "integer", minimum: 1 }, "integer"],
    [{ const: "a" }, '"a"'],
    [{ const: null }, "null"],
    [{ type: "string", enum: ["a", "b"] }, '"a" | "b"'],
    [{ type: ["string", "null"] }, "string | null"],
    [{ type: "array", items: { type: "string" } }, "string[]"],
    [{ type: "array", items: { enum: [1, 2] } }, "(1 | 2)[]"],
    [{ type: "array" }, "any[]"],
    [{ type: "object" }, "object"],
    [{ type: "object", properties: {} }, "{}"],
    [{ anyOf: [{ type: "string" }, { type: "number" }] }, "string | number"],
    [{ oneOf: [{ const: 1 }, { type: "null" }] }, "1 | null"],
    [{ $ref: "#/$defs/x" }, "any"],
    [{}, "any"],
    [true, "any"],
    [
      {
        type: "object",
        properties: {
          path: { type: "string" },
          edits: {
            type: "array",
            items: { type: "object", properties: { search: { type: "string" } }, required: ["search"] },
          },
        },
        required: ["path"],
      },
      "{path: string, edits?: {search: string}[]}",
    ],
  ]
  test.each(shapes.map(([schema, text]) => [JSON.stringify(schema), text] as const))(
    "%s is %s",
    (json, text) => {
      expect(schemaText(JSON.parse(json))).toBe(text)
    },
  )

  test("only so deep", () => {
    let schema: Json = { type: "string" }
    for (let level = 0; level < 40; level++) schema = { type: "array", items: schema }
    expect(schemaText(schema)).toBe(`any${"[]".repeat(13)}`)
  })

  test("whatever it is", () => {
    expect(schemaText(nested(100))).toBe("any")
    expect(schemaText({ type: 5, properties: 1 })).toBe("any")
    expect(schemaText({ type: "object", properties: [], required: 1 })).toBe("object")
  })
})
