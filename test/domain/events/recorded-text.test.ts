import { expect, test } from "bun:test"
import { RecordedText } from "../../../src/domain/events/recorded-text.ts"

test("recorded text is one of three kinds, each with its own fields", () => {
  expect(RecordedText().safeParse({ kind: "inline", text: "" }).success).toBe(true)
  expect(RecordedText().safeParse({ kind: "artifact", ref: "sha256:x", bytes: 3 }).success).toBe(true)
  expect(RecordedText().safeParse({ kind: "omitted" }).success).toBe(true)
  expect(RecordedText().safeParse({ kind: "omitted", text: "no" }).success).toBe(false)
  expect(RecordedText().safeParse({ kind: "artifact", ref: "sha256:x" }).success).toBe(false)
})
