import { expect, test } from "bun:test"
import { readEnvironment } from "../../src/config/environment.ts"
import type { ModelSelection } from "../../src/domain/pipeline-settings.ts"
import { sessionProvider } from "../../src/models/provider.ts"
import { collect } from "../../src/provider/reply.ts"
import { requestOf } from "../provider/provider-kit.ts"
import { nothingLeaves } from "../support/external-calls.ts"
import { says } from "../support/model-server/replies.ts"
import { startModelServer } from "../support/model-server/server.ts"
import { configWith, fakeModel } from "./model-room.ts"

const signal = AbortSignal.timeout(20_000)

test("an airgapped session sends nothing to an endpoint that is not the configured one", async () => {
  await using fake = await startModelServer({ protocol: "ollama", answer: () => says("hi") })
  const selection: ModelSelection = {
    protocol: "ollama",
    endpoint: fake.endpoint,
    consentBy: null,
    planner: fakeModel,
    executor: fakeModel,
    verifier: fakeModel,
    reviewer: fakeModel,
  }
  const asked = async (endpoint: string | null) => {
    const config = configWith({ endpoint })
    const environment = readEnvironment({})
    const selected = { selection, mode: "airgapped", config, environment } as const
    const provider = await sessionProvider({ ...selected, externalCalls: nothingLeaves })
    return await collect(provider.ask(requestOf(), signal), signal)
  }
  for (const other of [null, "http://127.0.0.1:9"]) {
    const { failure } = await asked(other)
    expect(failure).toMatchObject({ kind: "refused", message: expect.stringContaining("another endpoint") })
  }
  expect(fake.connections.all).toBe(0)
  expect(await asked(fake.endpoint)).toMatchObject({ text: "hi", failure: null })
})
