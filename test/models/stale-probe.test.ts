import { afterEach, beforeEach, expect, test } from "bun:test"
import { forgetProbe } from "../../src/models/probe-store.ts"
import { findServer } from "../../src/models/server.ts"
import { knownModel } from "../../src/models/stage-model.ts"
import { probeAnswer } from "../support/model-server/probes.ts"
import { says } from "../support/model-server/replies.ts"
import { startModelServer } from "../support/model-server/server.ts"
import { type TempWorkspace, tempWorkspace } from "../support/workspace/temp-workspace.ts"
import { configWith, modelRoomWith, wishFor } from "./model-room.ts"

let temp: TempWorkspace
beforeEach(() => {
  temp = tempWorkspace()
})
afterEach(() => temp[Symbol.dispose]())

test.each(["ollama", "openai"] as const)(
  "what is forgotten about a model of %s is found out again, and nothing about the others",
  async protocol => {
    const models = ["a", "b"].map(name => ({
      name,
      trainedTokens: 32_768,
      loadedTokens: null,
      parameters: "8.0B",
      tools: true,
    }))
    const answer = (received: Parameters<typeof probeAnswer>[0]) => probeAnswer(received) ?? says("hi")
    await using fake = await startModelServer({ protocol, models, answer, flavour: "llamacpp" })
    const room = modelRoomWith(configWith({ endpoint: fake.endpoint }), temp.environment)
    const { server } = await findServer(room, wishFor())
    for (const name of ["a", "b", "a", "b"]) await knownModel(room, server, name, false)
    expect(fake.chats.length).toBe(2)
    await forgetProbe(room, server, "a", room.signal)
    for (const name of ["a", "b"]) await knownModel(room, server, name, false)
    expect(fake.chats.length).toBe(3)
  },
)

test("a server that cannot be asked any more leaves everything as it is", async () => {
  const fake = await startModelServer({ protocol: "ollama", answer: () => says("hi") })
  const room = modelRoomWith(configWith({ endpoint: fake.endpoint }), temp.environment)
  const { server } = await findServer(room, wishFor())
  await fake[Symbol.asyncDispose]()
  expect(await forgetProbe(room, server, "fake", room.signal)).toBeUndefined()
})
