import { expect, test } from "bun:test"
import type { Protocol } from "../../src/domain/model-choice.ts"
import type { ModelSelection, PipelineSettings } from "../../src/domain/pipeline-settings.ts"
import { withPresentWindows } from "../../src/models/present-windows.ts"
import { says } from "../support/model-server/replies.ts"
import { startModelServer } from "../support/model-server/server.ts"
import { settingsOf } from "../support/pipeline/pipeline-events.ts"
import { configWith, fakeModel, modelRoomWith } from "./model-room.ts"

const small = { ...fakeModel, name: "small", windowTokens: 16_384 }
const big = { ...fakeModel, name: "big", windowTokens: 16_384 }

function settingsWith(protocol: Protocol, endpoint: string): PipelineSettings {
  const models = { planner: big, executor: small, verifier: small, reviewer: big }
  const selection: ModelSelection = { protocol, endpoint, consentBy: null, ...models }
  return settingsOf({}, { selection })
}

function serving(protocol: Protocol) {
  const offered = { trainedTokens: 131_072, parameters: "7.0B", tools: true }
  const models = [
    { ...offered, name: "small", loadedTokens: 4_096 },
    { ...offered, name: "big", loadedTokens: 65_536 },
  ]
  return startModelServer({ protocol, flavour: "lmstudio", models, answer: () => says("hi") })
}

test("a window is what its model is loaded with now where that is less, and as recorded where it is more", async () => {
  await using server = await serving("openai")
  const room = modelRoomWith(configWith())
  const { selection } = await withPresentWindows(room, settingsWith("openai", server.endpoint))
  const less = { ...small, windowTokens: 4_096, outputTokensMax: 2_048 }
  expect(selection).toMatchObject({ planner: big, executor: less, verifier: less, reviewer: big })
  expect(room.notices).toEqual(["model small is loaded with a window of 4096 tokens now, and not with 16384"])
  // Nobody has to wait for a model to be asked about its window.
  expect(server.chats).toEqual([])
})

test("a server that gets the window with every request is not asked for it", async () => {
  await using server = await serving("ollama")
  const settings = settingsWith("ollama", server.endpoint)
  expect(await withPresentWindows(modelRoomWith(configWith()), settings)).toBe(settings)
  expect(server.requests).toEqual([])
})

test("a server elsewhere is asked for nothing", async () => {
  const settings = settingsWith("openai", "http://model.invalid")
  const room = modelRoomWith(configWith(), { OPENAI_API_KEY: "sk-some-key-or-other" })
  expect(await withPresentWindows(room, settings)).toBe(settings)
  expect(room.externalCalls.take()).toEqual({})
})

test("a server that is not there changes nothing", async () => {
  const settings = settingsWith("openai", "http://127.0.0.1:9")
  expect(await withPresentWindows(modelRoomWith(configWith()), settings)).toEqual(settings)
})
