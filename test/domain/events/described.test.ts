import { expect, test } from "bun:test"
import * as z from "zod/mini"
import { described } from "../../../src/domain/events/definition.ts"

test("a description is in the JSON Schema and changes nothing about what is valid", () => {
  const schema = described(z.string(), "the name as it was written")
  expect(z.toJSONSchema(schema)).toMatchObject({ type: "string", description: "the name as it was written" })
  expect([schema.safeParse("x").success, schema.safeParse(1).success]).toEqual([true, false])
})
