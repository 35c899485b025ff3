import { expect, test } from "bun:test"
import { isCloudName, refusedCloud } from "../../../../src/provider/protocols/ollama/model-facts.ts"

test.each(["gpt-oss:cloud", "gpt-oss:120b-cloud", "gpt-oss:120b:cloud", "me/x:CLOUD", " a:b-Cloud "])(
  "%p runs elsewhere",
  name => expect(isCloudName(name)).toBe(true),
)

test.each(["cloud", "my-cloud", "qwen3:8b", "cloud:8b", "host.example:80/x-cloud", "x:cloudy", "a:local"])(
  "%p runs on the server",
  name => expect(isCloudName(name)).toBe(false),
)

test("a refusal says which model and where it would run", () => {
  const failure = refusedCloud("gpt-oss:cloud", "ollama.com")
  expect(failure).toMatchObject({ kind: "badRequest", retryable: false })
  expect(failure.message).toMatch(/gpt-oss:cloud.*ollama\.com.*consented/)
})
