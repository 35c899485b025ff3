import { describe, expect, test } from "bun:test"
import { isOpenAiItself, pathsBelow } from "../../../../src/provider/protocols/openai/server.ts"

describe("paths below an endpoint", () => {
  test("the version is added where the endpoint has none", () => {
    for (const endpoint of ["http://127.0.0.1:8080", "http://127.0.0.1:8080/", "http://host/llm"])
      expect(pathsBelow(endpoint)).toMatchObject({ chat: "/v1/chat/completions", models: "/v1/models" })
  })

  test("an endpoint with a version is complete", () => {
    const complete = [
      "http://127.0.0.1:8080/v1",
      "http://127.0.0.1:8080/v1/",
      "https://api.groq.com/openai/v1",
      "https://host/v1beta/openai",
      "https://host/api/v3",
    ]
    for (const endpoint of complete)
      expect(pathsBelow(endpoint)).toMatchObject({ chat: "/chat/completions", models: "/models" })
  })

  test("a socket's own path is not a part of it", () => {
    expect(pathsBelow("unix:/run/v1/model.sock").chat).toBe("/v1/chat/completions")
  })

  test("what is outside of the API is beside it, not below it", () => {
    expect(pathsBelow("http://127.0.0.1:8080").outside?.("/props")).toBe("/props")
    const above = pathsBelow("http://127.0.0.1:8080/v1").outside?.("/props")
    expect(new URL(`http://127.0.0.1:8080/v1${above}`).pathname).toBe("/props")
  })

  test("where nothing is outside no one looks for it", () => {
    expect(pathsBelow("https://api.openai.com/v1").outside).toBeNull()
    expect(pathsBelow("http://127.0.0.1:8080/v1beta/openai").outside).toBeNull()
  })

  test("only servers of this machine are asked for what is outside, never one elsewhere", () => {
    for (const endpoint of ["http://localhost:8080", "http://[::1]:8080/v1", "unix:/run/model.sock"])
      expect(pathsBelow(endpoint).outside).not.toBeNull()
    for (const endpoint of [
      "https://models.example.com",
      "http://192.168.0.7:8080/v1",
      "http://gpu-box:1234",
    ])
      expect(pathsBelow(endpoint).outside).toBeNull()
  })
})

describe("the company's own servers", () => {
  test("are known by their host alone", () => {
    expect(isOpenAiItself("https://api.openai.com/v1")).toBe(true)
    expect(isOpenAiItself("https://api.openai.com")).toBe(true)
    expect(isOpenAiItself("https://mine.openai.azure.com/openai/v1")).toBe(true)
    expect(isOpenAiItself("https://api.openai.com.example.org/v1")).toBe(false)
    expect(isOpenAiItself("http://127.0.0.1/api.openai.com")).toBe(false)
  })
})
