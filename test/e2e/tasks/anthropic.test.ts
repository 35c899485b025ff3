import { describe, expect } from "bun:test"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { check } from "../../support/checker/checker.ts"
import { at } from "../../support/model-server/json.ts"
import { says } from "../../support/model-server/replies.ts"
import { startModelServer } from "../../support/model-server/server.ts"
import { noAddress, ownAddress } from "../../support/own-address.ts"
import { allRows } from "../../support/plan/plan-report.ts"
import { testWhere } from "../../support/requirement.ts"
import { taskWorkspace } from "../../support/task-workspace.ts"
import { tcpDoor } from "../../support/tcp-door.ts"

const key = "sk-ant-key-9Wf4Hs63PbNcY5"

describe("tasks with a model of Anthropic", () => {
  testWhere(noAddress)(
    "ask the model of their tier, leave only after consent, and every request is recorded",
    async () => {
      using room = taskWorkspace()
      const answer = () => says("from afar")
      await using server = await startModelServer({ protocol: "anthropic", key, answer })
      await using door = await tcpDoor(server.endpoint, ownAddress)
      const model = { endpoint: door.endpoint, provider: "anthropic" }
      room.temp.write("../config/acode/config.yml", JSON.stringify({ schema_version: "1", model }))
      const acode = (...args: readonly string[]) =>
        room.acode(["agent", "run", ...args], { ANTHROPIC_API_KEY: key })
      const burst = ["--mode", "burst"]

      room.task("usual")
      room.task("large", { metadata: { model_tier: "opus" } })
      const local = await acode("usual")
      expect([local.exitCode, server.requests.length, room.stored("usual").status]).toEqual([
        33,
        0,
        "pending",
      ])
      const both = await acode("usual", "large", "--parallel", "1", ...burst)
      expect([both.exitCode, both.stderr]).toEqual([0, expect.stringContaining("leave this machine")])
      room.task("small")
      expect((await acode("small", "--tier", "haiku", ...burst)).exitCode).toBe(0)
      room.task("named")
      expect((await acode("named", "--model", "anthropic/opus", ...burst)).exitCode).toBe(0)
      expect(server.chats.map(({ body }) => at(body, "model"))).toEqual([
        "claude-sonnet-4-5-20250929",
        "claude-opus-4-6",
        "claude-haiku-4-5-20251001",
        "claude-opus-4-6",
      ])
      expect(readFileSync(join(room.temp.root, "out/named.md"), "utf8")).toBe("from afar")
      const calls = allRows(room.temp)
        .filter(({ type }) => type === "task.replied")
        .map(({ parsed }) => at(parsed as never, "externalCalls", "calls", 0, "url"))
      expect(calls).toEqual(Array(4).fill(`${door.endpoint}/v1/messages`))
      expect(await check(room.temp, { secrets: [key] })).toEqual([])
    },
    30_000,
  )
})
