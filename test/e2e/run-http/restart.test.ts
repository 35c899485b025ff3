import { describe, expect, test } from "bun:test"
import { check } from "../../support/checker/checker.ts"
import type { Flavour } from "../../support/model-server/contract.ts"
import { probeAnswer } from "../../support/model-server/probes.ts"
import { requestFacts } from "../../support/model-server/request-facts.ts"
import { scriptedAnswers } from "../../support/model-server/scripted.ts"
import { startModelServer } from "../../support/model-server/server.ts"
import { contains, reply } from "../../support/script-replies.ts"
import { httpWorkspace } from "../../support/workspace/http-workspace.ts"

const names = Array.from({ length: 5 }, (_, at) => `in${at}.txt`)
/** About 1,600 tokens each. */
const files = Object.fromEntries(names.map(name => [name, `a line of ${name} to be read\n`.repeat(230)]))

const replies = [
  reply.plan({ write: ["made.txt"], acceptance: [contains("made.txt", "done")] }),
  ...names.map(path => reply.calls(["read_file", { path }])),
  reply.write("made.txt", "done\n"),
  reply.finish(),
  reply.review("approve"),
]

const pinned = { provider: "openai", parameters: { context_window: 16_384 } }

/** A server whose model has another window after a restart, and what it does with what is too long for it. */
async function restartable(flavour: Flavour, refuses: boolean) {
  let windowTokens = 16_384
  const server = await startModelServer({
    protocol: "openai",
    flavour,
    answer: scriptedAnswers(replies),
    get models() {
      return [
        { name: "m", trainedTokens: 32_768, loadedTokens: windowTokens, parameters: "7.0B", tools: true },
      ]
    },
    get window() {
      return refuses ? windowTokens : Number.POSITIVE_INFINITY
    },
  })
  const longest = (from: number) =>
    Math.max(
      ...server.chats
        .slice(from)
        .filter(chat => probeAnswer(chat) === null)
        .map(({ body }) => requestFacts("openai", body).promptTokens),
    )
  const restart = (tokens: number) => {
    windowTokens = tokens
  }
  return { server, longest, restart }
}

describe("a server that was started again with a smaller window while a session rested", () => {
  test("and cuts off without a word what is too long gets nothing that is", async () => {
    const { server, longest, restart } = await restartable("lmstudio", false)
    await using _ = server
    using room = httpWorkspace({ endpoint: server.endpoint, files, model: { provider: "openai" } })
    expect((await room.ask("--yes=plan", "--max-turns", "5")).exitCode).toBe(31)
    const before = server.chats.length
    expect(longest(0)).toBeGreaterThan(6_000)
    restart(6_000)
    const run = await room.goOn("--max-turns", "20")
    expect([run.exitCode, room.file("made.txt")]).toEqual([0, "done\n"])
    expect(longest(before)).toBeLessThanOrEqual(6_000)
    expect(run.data("session.resumed")[0]).toMatchObject({
      settings: { selection: { executor: { windowTokens: 6_000, outputTokensMax: 3_000 } } },
    })
    expect(run.stderr).toContain("m is loaded with a window of 6000 tokens now, and not with 16384")
    expect(await check(room.workspace)).toEqual([])
  }, 30_000)

  test.each(["plain", "llamacpp", "vllm"] as const)(
    "and refuses what is too long (%s) is asked with less",
    async flavour => {
      const { server, restart } = await restartable(flavour, true)
      await using _ = server
      using room = httpWorkspace({ endpoint: server.endpoint, files, model: pinned })
      expect((await room.ask("--yes=plan", "--max-turns", "5")).exitCode).toBe(31)
      restart(6_000)
      const run = await room.goOn("--max-turns", "20")
      expect([run.exitCode, room.file("made.txt")]).toEqual([0, "done\n"])
      expect(run.data("context.trimmed").length).toBeGreaterThan(0)
      expect(await check(room.workspace)).toEqual([])
    },
    30_000,
  )
})

test("a server that was started again with a larger window takes what it found too long before", async () => {
  const { server, restart } = await restartable("plain", true)
  await using _ = server
  using room = httpWorkspace({ endpoint: server.endpoint, files, model: pinned })
  restart(1_200)
  const run = await room.ask("--yes=plan", "--max-turns", "20")
  expect(run.exitCode).toBe(22)
  const again = "then `acode resume --model openai/m`"
  expect(JSON.stringify(run.data("escalation.raised"))).toContain(again)
  restart(16_384)
  expect((await room.goOn("--model", "openai/m")).exitCode).toBe(0)
  expect(room.file("made.txt")).toBe("done\n")
  expect(await check(room.workspace)).toEqual([])
}, 30_000)
