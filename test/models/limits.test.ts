import { expect, test } from "bun:test"
import { replyLimits } from "../../src/models/settings.ts"
import { configWith } from "./model-room.ts"

const seconds = {
  connect_timeout_seconds: 1,
  first_token_timeout_seconds: 2,
  token_timeout_seconds: 3,
  timeout_seconds: 4,
}

test("a reply that is streamed has a limit for each part of it", () => {
  expect(replyLimits(configWith({ ...seconds, streaming: true }))).toEqual({
    connectMs: 1000,
    firstByteMs: 2000,
    betweenMs: 3000,
    wholeMs: 4000,
  })
})

test("a reply that arrives as a whole has only the limit of the whole: its first byte comes with its last", () => {
  expect(replyLimits(configWith({ ...seconds, streaming: false }))).toEqual({
    connectMs: 1000,
    firstByteMs: 4000,
    betweenMs: 4000,
    wholeMs: 4000,
  })
})
