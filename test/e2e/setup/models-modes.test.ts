import { describe, expect, test } from "bun:test"
import { readdirSync, readFileSync, readlinkSync } from "node:fs"
import { connect, createServer } from "node:net"
import { join } from "node:path"
import { userName } from "../../../src/app/user-name.ts"
import { check } from "../../support/checker/checker.ts"
import type { ModelServerOptions } from "../../support/model-server/contract.ts"
import { scriptedAnswers } from "../../support/model-server/scripted.ts"
import { startModelServer } from "../../support/model-server/server.ts"
import { noAddress, ownAddress } from "../../support/own-address.ts"
import { testWhere } from "../../support/requirement.ts"
import { concrete, greeting, reply } from "../../support/script-replies.ts"
import { tcpDoor } from "../../support/tcp-door.ts"
import { httpWorkspace } from "../../support/workspace/http-workspace.ts"

/** Where the sockets of a process lead, as the kernel knows them. */
function connectionsOf(pid: number): readonly string[] {
  const inodes = readdirSync(`/proc/${pid}/fd`).flatMap(fd => {
    try {
      return /^socket:\[(\d+)\]$/.exec(readlinkSync(`/proc/${pid}/fd/${fd}`))?.[1] ?? []
    } catch {
      // Closed since the directory was read.
      return []
    }
  })
  return ["tcp", "tcp6", "udp", "udp6"].flatMap(kind =>
    readFileSync(`/proc/net/${kind}`, "utf8")
      .split("\n")
      .slice(1)
      .map(line => line.trim().split(/\s+/))
      .filter(fields => inodes.includes(fields[9] ?? ""))
      .map(fields => `${kind} ${fields[2]}`),
  )
}

/** `tcp 0100007F:PORT`, as the kernel writes it. */
function written(endpoint: string): string {
  const port = Number(new URL(endpoint).port).toString(16).toUpperCase().padStart(4, "0")
  return `tcp 0100007F:${port}`
}

/** Answers from a script, and writes down at each request which connections the process has that asks. */
function watchedAnswers() {
  let pid = 0
  const seen: string[][] = []
  const scripted = scriptedAnswers(greeting())
  const answer: ModelServerOptions["answer"] = (received, index) => {
    if (pid > 0) seen.push([...connectionsOf(pid)])
    return scripted(received, index)
  }
  const watch = (asking: number) => {
    pid = asking
  }
  return { seen, answer, watch }
}

describe("an airgapped session", () => {
  test("has no connection but the one to its endpoint, at any request", async () => {
    const { seen, answer, watch } = watchedAnswers()
    await using server = await startModelServer({ protocol: "openai", answer })
    using room = httpWorkspace({
      endpoint: server.endpoint,
      more: { mode: { airgapped_lock: true } },
      // Whatever else is named in the environment is not for this session.
      variables: {
        OLLAMA_HOST: "gpu-box.invalid",
        HTTP_PROXY: "http://127.0.0.1:9",
        http_proxy: "http://127.0.0.1:9",
      },
    })
    await using running = room.begin("--yes=plan")
    watch(running.pid)
    const { exitCode, stdout } = await running.ended
    expect([exitCode, stdout.includes('"mode":"airgapped"')]).toEqual([0, true])
    expect(seen.length).toBeGreaterThanOrEqual(4)
    for (const connections of seen) expect(new Set(connections)).toEqual(new Set([written(server.endpoint)]))
    expect(await check(room.workspace)).toEqual([])
  }, 30_000)

  test("works over a socket, with no connection of the network at all", async () => {
    const { seen, answer, watch } = watchedAnswers()
    await using server = await startModelServer({ protocol: "ollama", answer })
    using room = httpWorkspace({ endpoint: null })
    const path = join(room.workspace.outside, "model.sock")
    const door = createServer(socket => {
      const behind = connect(Number(new URL(server.endpoint).port), "127.0.0.1")
      socket.pipe(behind).on("error", () => socket.destroy())
      behind.pipe(socket).on("error", () => behind.destroy())
    })
    await new Promise<void>(resolve => door.listen(path, resolve))
    room.configure({ endpoint: `unix:${path}` })
    await using running = room.begin("--yes=plan", "--mode", "airgapped")
    watch(running.pid)
    const { exitCode, stderr } = await running.ended
    door.close()
    expect([exitCode, stderr.includes("error")]).toEqual([0, false])
    expect(seen.length).toBeGreaterThanOrEqual(4)
    expect(seen.flat()).toEqual([])
  }, 30_000)

  test("gives no command the network, not even one of an approved plan", async () => {
    const step = concrete("s1", "run_command", { argv: ["true"], network: "host" })
    const replies = [reply.plan({ commands: [["true"]], steps: [step] }), reply.review("approve")]
    const outcomes = async (mode: string) => {
      await using server = await startModelServer({ protocol: "openai", answer: scriptedAnswers(replies) })
      using room = httpWorkspace({ endpoint: server.endpoint })
      const run = await room.ask("--yes=plan,network,terminal:all", "--mode", mode)
      return run.data("tool_call.settled").map(({ outcome, error }) => [outcome, JSON.stringify(error)])
    }
    expect((await outcomes("local-only"))[0]).toEqual(["succeeded", "null"])
    expect((await outcomes("airgapped"))[0]).toEqual(["denied", expect.stringContaining("airgapped")])
  }, 30_000)

  test("does not go on at an endpoint that is no longer the configured one", async () => {
    const answer = scriptedAnswers(greeting())
    await using before = await startModelServer({ protocol: "openai", answer })
    await using now = await startModelServer({ protocol: "openai", answer })
    using room = httpWorkspace({ endpoint: before.endpoint })
    expect((await room.ask("--yes=plan", "--mode", "airgapped", "--plan-only")).exitCode).toBe(0)
    const asked = before.requests.length
    room.configure({ endpoint: now.endpoint })
    const refused = await room.goOn()
    expect([refused.exitCode, refused.stdout]).toEqual([33, expect.stringContaining("ACODE-MODEL-004")])
    expect([before.requests.length, now.requests.length]).toEqual([asked, 0])
    const end = await room.goOn("--model", "fake")
    expect([end.exitCode, room.file("greeting.txt")]).toEqual([0, "hello\n"])
    expect(before.requests.length).toBe(asked)
  }, 30_000)

  test("has no server where none is configured, and none elsewhere", async () => {
    for (const endpoint of [null, "https://models.example.invalid"]) {
      using room = httpWorkspace({ endpoint })
      const { exitCode, stderr } = await room.plain("run", "x", "--mode", "airgapped")
      expect([exitCode, stderr]).toEqual([33, expect.stringContaining("ACODE-MODEL-004")])
    }
  })
})

describe("the mode", () => {
  test("that is in force is told, with where it is from and what it allows", async () => {
    using plain = httpWorkspace({ endpoint: null })
    expect(JSON.parse((await plain.plain("config", "mode", "--json")).stdout)).toMatchObject({
      mode: "local-only",
      origin: "default",
      allowsBurst: true,
      isLocked: false,
      allowed: expect.arrayContaining([{ id: "other_models", allowed: "no" }]),
    })
    using locked = httpWorkspace({ endpoint: null, more: { mode: { airgapped_lock: true } } })
    const { stdout } = await locked.plain("config", "mode")
    expect(stdout).toMatch(/^airgapped {2}\(user\)\n/)
    expect(stdout).toMatch(/network for commands +no\n/)
    expect(stdout).toMatch(/--mode burst +is refused\n/)
  })

  test("is compared with the others, whole or in part", async () => {
    using room = httpWorkspace({ endpoint: null })
    const { stdout } = await room.plain("config", "matrix")
    expect(stdout.split("\n")[0]).toMatch(/^ +local-only +burst +airgapped$/)
    const one = await room.plain(
      ...["config", "matrix", "--mode", "airgapped", "--capability", "other_models", "--json"],
    )
    expect(JSON.parse(one.stdout)).toEqual([
      { id: "other_models", summary: "models elsewhere", allowed: { airgapped: "no" } },
    ])
    expect((await room.plain("config", "matrix", "--capability", "flying")).exitCode).toBe(2)
  })
})

describe("a server elsewhere", () => {
  test("is refused by default, with how to consent", async () => {
    using room = httpWorkspace({ endpoint: null, model: { provider: "anthropic" } })
    const { exitCode, stderr } = await room.plain("run", "x")
    expect([exitCode, stderr]).toEqual([33, expect.stringContaining("ACODE-MODEL-004")])
    expect(stderr).toContain("--mode burst --model anthropic/NAME")
  })

  test("needs a provider that is named and a key", async () => {
    using room = httpWorkspace({ endpoint: null })
    const unnamed = await room.plain("run", "x", "--mode", "burst")
    expect([unnamed.exitCode, unnamed.stderr]).toEqual([33, expect.stringContaining("ACODE-MODEL-005")])
    const keyless = await room.plain("run", "x", "--mode", "burst", "--model", "anthropic/claude-x")
    expect([keyless.exitCode, keyless.stderr]).toEqual([4, expect.stringContaining("ACODE-MODEL-008")])
  })

  test("is not what an untrusted project chooses", async () => {
    const config =
      'schema_version: "1"\nmodel: { provider: openai, endpoint: "https://models.example.invalid" }\n'
    await using server = await startModelServer({ protocol: "ollama", answer: scriptedAnswers(greeting()) })
    using room = httpWorkspace({ endpoint: server.endpoint, files: { ".agent/config.yml": config } })
    const run = await room.ask("--yes=plan")
    expect([run.exitCode, run.stderr]).toEqual([
      0,
      expect.stringContaining("cannot loosen model.provider, model.endpoint"),
    ])
    expect(run.data("session.started")[0]).toMatchObject({
      agent: { selection: { endpoint: server.endpoint } },
    })
  }, 30_000)

  testWhere(noAddress)(
    "is used with a consent, which is recorded, told, kept by a resume, and taken back",
    async () => {
      const key = "oai-key-9Wf4Hs63PbNcY5"
      const answer = scriptedAnswers(greeting())
      await using server = await startModelServer({ protocol: "openai", answer, key })
      await using door = await tcpDoor(server.endpoint, ownAddress)
      using room = httpWorkspace({
        endpoint: door.endpoint,
        variables: { OPENAI_API_KEY: key },
        model: { provider: "openai" },
      })
      expect((await room.ask("--yes=plan")).exitCode).toBe(33)
      const run = await room.ask("--yes=plan", "--mode", "burst", "--model", "fake", "--plan-only")
      const consentBy = userName()
      expect(run.stderr).toContain(
        `burst: prompts and snippets of this workspace, redacted, leave this machine for openai at ${door.endpoint}, ` +
          `as ${consentBy} agreed for this session`,
      )
      // It gets the key with what is asked of it, and nothing else is.
      const paths = new Set(server.requests.map(({ path }) => path))
      expect(paths).toEqual(new Set(["/v1/models", "/v1/chat/completions"]))
      const selection = { endpoint: door.endpoint, consentBy }
      expect(run.data("session.started")[0]).toMatchObject({ agent: { mode: "burst", selection } })
      expect(run.data("model.requested")[0]).toMatchObject({ endpoint: door.endpoint, model: "fake" })

      const airgapped = await room.goOn("--mode", "airgapped")
      expect([airgapped.exitCode, airgapped.stdout]).toEqual([33, expect.stringContaining("ACODE-MODEL-004")])
      const asked = server.requests.length
      const revoked = await room.goOn("--mode", "local-only")
      expect([revoked.exitCode, revoked.stdout]).toEqual([33, expect.stringContaining("ACODE-MODEL-004")])
      expect(server.requests.length).toBe(asked)

      const end = await room.goOn()
      expect([end.exitCode, room.file("greeting.txt")]).toEqual([0, "hello\n"])
      expect(end.data("session.resumed")[0]).toMatchObject({ settings: { mode: "burst", selection } })
      expect(await check(room.workspace, { secrets: [key] })).toEqual([])
    },
    30_000,
  )
})
