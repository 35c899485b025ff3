import { expect, test } from "bun:test"
import { join } from "node:path"
import { check } from "../../support/checker/checker.ts"
import { secretViolations } from "../../support/checker/checker-secrets.ts"
import { scriptedAnswers } from "../../support/model-server/scripted.ts"
import { startModelServer } from "../../support/model-server/server.ts"
import { greeting, reply } from "../../support/script-replies.ts"
import { httpWorkspace } from "../../support/workspace/http-workspace.ts"

const keys = {
  ANTHROPIC_API_KEY: "ant-key-7Qm2Zx81LkVtR0",
  OPENAI_API_KEY: "oai-key-9Wf4Hs63PbNcY5",
}
const token = "ghp_0123456789abcdefghijABCDEFGHIJ012345"

test.each(["openai", "anthropic"] as const)(
  "neither a key nor a secret of the workspace is in a request to %s, in the history, or in a recording",
  async protocol => {
    const key = protocol === "openai" ? keys.OPENAI_API_KEY : keys.ANTHROPIC_API_KEY
    const [plan = {}, ...rest] = greeting()
    const reads = reply.calls(["read_file", { path: "notes.txt" }])
    // The model says it as well, as if it had it from elsewhere.
    const says = reply.calls(["search_code", { pattern: keys.OPENAI_API_KEY }])
    const answer = scriptedAnswers([plan, reads, says, ...rest])
    await using server = await startModelServer({ protocol, answer, key })
    const files = { "notes.txt": `keys ${keys.ANTHROPIC_API_KEY} ${keys.OPENAI_API_KEY} ${token}\n` }
    using room = httpWorkspace({
      endpoint: server.endpoint,
      files,
      variables: keys,
      model: { provider: protocol },
    })
    const record = join(room.workspace.outside, "cache", "recording.jsonl")
    const run = await room.ask("--yes=plan", "--record", record, "--show-model-progress")
    expect([run.exitCode, run.stderr.includes("error")]).toEqual([0, false])
    const secrets = [...Object.values(keys), token]
    expect(await check(room.workspace, { secrets })).toEqual([])
    expect(await secretViolations([join(room.workspace.outside, "cache")], secrets)).toEqual([])
    for (const { body } of server.requests)
      for (const secret of secrets) expect(JSON.stringify(body)).not.toContain(secret)
    expect(JSON.stringify(server.chats.at(-2)?.body)).toContain("[REDACTED:")
    const sent = server.chats.map(({ headers }) => headers["x-api-key"] ?? headers["authorization"])
    expect(new Set(sent)).toEqual(new Set([protocol === "openai" ? `Bearer ${key}` : key]))

    // What was recorded plays again without any server.
    using again = httpWorkspace({
      endpoint: "http://127.0.0.1:9",
      files,
      variables: keys,
      model: { provider: protocol },
    })
    const replayed = await again.ask("--yes=plan", "--replay", record)
    expect([replayed.exitCode, again.file("greeting.txt")]).toEqual([0, "hello\n"])
    expect(replayed.data("session.started")[0]).toMatchObject({
      agent: { selection: { endpoint: "replay" } },
    })
  },
  60_000,
)
