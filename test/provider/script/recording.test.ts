import { describe, expect, test } from "bun:test"
import { assert } from "../../../src/base/assert.ts"
import type { ModelItem, ModelMessage, ModelRequest, Provider } from "../../../src/provider/contract.ts"
import { collect } from "../../../src/provider/reply.ts"
import { recordTo, replayFrom } from "../../../src/provider/script/recording.ts"
import { type Recording, readRecording } from "../../../src/provider/script/recording-file.ts"
import { createScripted } from "../../../src/provider/script/scripted.ts"
import { settledText } from "../../../src/provider/script/settled-text.ts"
import { call, itemsOf, never, requestOf, saying, scriptOf, stop, text } from "../provider-kit.ts"

const settled = {
  redactText: (said: string) => said.replaceAll("hunter2", "[REDACTED:password]"),
  settledText: (said: string) => settledText(said, null),
}

function sinkTo(lines: string[]) {
  return { append: (line: string) => void lines.push(line), ...settled }
}

function recordingOf(lines: readonly string[]): Recording {
  const reading = readRecording(lines.map(line => `${line}\n`).join(""))
  assert("recording" in reading, `a recording can be read: ${JSON.stringify(reading)}`)
  return reading.recording
}

async function failureOf(provider: Provider, request: ModelRequest): Promise<string> {
  const reply = await collect(provider.ask(request, never), never)
  assert(reply.failure !== null, "it failed")
  expect(reply.failure).toMatchObject({ kind: "script", retryable: false })
  return reply.failure.message
}

const read = call("call_1_1", "read_file", { path: "a.ts" })
const calling: ModelItem = { kind: "end", reason: "calls" }

/** Two turns of a session, the second with the result of the first. */
function turns(result: string): ModelRequest[] {
  const opening: ModelMessage = { role: "user", text: "mend a.ts" }
  const asked: ModelMessage = {
    role: "assistant",
    text: "",
    calls: [{ id: "call_1_1", tool: "read_file", arguments: { path: "a.ts" } }],
  }
  const told: ModelMessage = { role: "tool", callId: "call_1_1", text: result }
  const tools = [{ name: "read_file", description: "reads", parameters: {} }]
  return [
    requestOf({ stage: "executor", replyIndex: 4, messages: [opening], tools }),
    requestOf({ stage: "executor", replyIndex: 5, messages: [opening, asked, told], tools }),
  ]
}

async function recordedTurns(result = "ok (3 ms)"): Promise<string[]> {
  const lines: string[] = []
  const [first, second] = turns(result)
  assert(first !== undefined && second !== undefined, "there are two")
  await itemsOf(recordTo(saying(text("I look"), read, calling), sinkTo(lines)).ask(first, never))
  await itemsOf(recordTo(saying(text("done"), stop), sinkTo(lines)).ask(second, never))
  return lines
}

describe("recording", () => {
  test("passes everything on and writes one line for each reply", async () => {
    const lines: string[] = []
    const items = [text("a"), read, { kind: "usage", input: 1, output: 2 } as const, calling]
    const provider = recordTo(saying(...items), sinkTo(lines))
    expect(await itemsOf(provider.ask(requestOf({ replyIndex: 3 }), never))).toEqual(items)
    expect(lines).toHaveLength(1)
    const [line = ""] = lines
    expect(line).not.toContain("\n")
    expect(JSON.parse(line)).toMatchObject({ index: 3, stage: "planner", items })
    expect(JSON.parse(line).requestDigest).toMatch(/^sha256:[0-9a-f]{64}$/)
  })

  test("writes a reply before it reports its end", async () => {
    const lines: string[] = []
    const written: number[] = []
    for await (const _ of recordTo(saying(text("a"), stop), sinkTo(lines)).ask(requestOf(), never))
      written.push(lines.length)
    expect(written).toEqual([0, 1])
  })

  test("keeps failures, which a replay has to meet again", async () => {
    const lines: string[] = []
    const script = scriptOf([{ stage: "planner", fault: { kind: "overloaded" } }])
    const items = await itemsOf(recordTo(createScripted(script), sinkTo(lines)).ask(requestOf(), never))
    const again = replayFrom(recordingOf(lines), settled)
    expect(await itemsOf(again.ask(requestOf(), never))).toEqual(items)
  })

  test("leaves out what was aborted, since it is asked for again", async () => {
    const lines: string[] = []
    const stopping = new AbortController()
    const hours = scriptOf([{ stage: "planner", fault: { kind: "slow", after_ms: 3_600_000 } }])
    const provider = recordTo(createScripted(hours), sinkTo(lines))
    const reply = collect(provider.ask(requestOf(), stopping.signal), stopping.signal)
    stopping.abort()
    expect((await reply).failure?.kind).toBe("aborted")
    expect(lines).toEqual([])
  })

  test("keeps what was too much to be heard, and a replay is too much again", async () => {
    const lines: string[] = []
    const endless = saying(...Array.from({ length: 30 }, () => text("x".repeat(50_000))), stop)
    const provider = recordTo(endless, sinkTo(lines))
    const reply = await collect(provider.ask(requestOf(), never), never)
    expect(reply.failure?.kind).toBe("malformed")
    const again = replayFrom(recordingOf(lines), settled)
    expect((await collect(again.ask(requestOf(), never), never)).failure).toEqual(reply.failure)
  })

  test("holds no secret: not in a text that came in pieces, not in arguments, not in a failure", async () => {
    const lines: string[] = []
    const failure: ModelItem = {
      kind: "failure",
      failure: { kind: "auth", message: "hunter2 is wrong", retryable: false, retryAfterMs: null },
    }
    const items = [text("use hun"), text("ter2"), call("1", "x", { deep: [{ key: "hunter2" }] }), failure]
    const request = requestOf({ messages: [{ role: "user", text: "my password is hunter2" }] })
    expect(await itemsOf(recordTo(saying(...items), sinkTo(lines)).ask(request, never))).toEqual(items)
    expect(lines.join()).not.toContain("hunter2")
    expect(lines.join().match(/\[REDACTED:password\]/g)).toHaveLength(3)
  })

  test("that cannot be written ends the reply, instead of leaving a gap", async () => {
    const full = () => {
      throw new Error("no space left on device")
    }
    const provider = recordTo(saying(text("a"), stop), { append: full, ...settled })
    expect(await failureOf(provider, requestOf())).toBe(
      "the recording could not be written: no space left on device",
    )
  })
})

describe("replaying", () => {
  test("says every reply again to the same requests", async () => {
    const replay = replayFrom(recordingOf(await recordedTurns()), settled)
    const [first, second] = turns("ok (3 ms)")
    assert(first !== undefined && second !== undefined, "there are two")
    expect(await itemsOf(replay.ask(first, never))).toEqual([text("I look"), read, calling])
    expect(await itemsOf(replay.ask(second, never))).toEqual([text("done"), stop])
  })

  test("does not mind how long something took", async () => {
    const replay = replayFrom(recordingOf(await recordedTurns("ok (3 ms)")), settled)
    const second = turns("ok (1.25 s)")[1] ?? requestOf()
    expect(await itemsOf(replay.ask(second, never))).toEqual([text("done"), stop])
  })

  test("does not mind who numbered the calls", async () => {
    const replay = replayFrom(recordingOf(await recordedTurns()), settled)
    const second = turns("ok (3 ms)")[1] ?? requestOf()
    const renumbered: ModelRequest = JSON.parse(JSON.stringify(second).replaceAll("call_1_1", "other"))
    expect(await itemsOf(replay.ask(renumbered, never))).toEqual([text("done"), stop])
  })

  test("does not mind that a secret was replaced in between", async () => {
    const replay = replayFrom(recordingOf(await recordedTurns("hunter2")), settled)
    const second = turns("[REDACTED:password]")[1] ?? requestOf()
    expect(await itemsOf(replay.ask(second, never))).toEqual([text("done"), stop])
  })

  test("ends where another result came back, and says at which reply and which message", async () => {
    const replay = replayFrom(recordingOf(await recordedTurns()), settled)
    expect(await failureOf(replay, turns("file not found")[1] ?? requestOf())).toBe(
      "the session has left its recording: at reply 5 of the recording message 3 of 3 (tool) is not what it was",
    )
  })

  test("ends where there are more or fewer messages", async () => {
    const replay = replayFrom(recordingOf(await recordedTurns()), settled)
    const [first, second] = turns("ok (3 ms)")
    assert(first !== undefined && second !== undefined, "there are two")
    expect(await failureOf(replay, { ...second, replyIndex: 4 })).toContain(
      "at reply 4 of the recording there were 1 messages, and now there are 3",
    )
    expect(await failureOf(replay, { ...first, replyIndex: 5 })).toContain(
      "at reply 5 of the recording there were 3 messages, and now there are 1",
    )
  })

  test("ends where another stage asks, or with other tools", async () => {
    const replay = replayFrom(recordingOf(await recordedTurns()), settled)
    const first = turns("")[0] ?? requestOf()
    expect(await failureOf(replay, { ...first, stage: "reviewer" })).toBe(
      "the session has left its recording: at reply 4 of the recording the executor asked, and now the reviewer asks",
    )
    expect(await failureOf(replay, { ...first, tools: [] })).toContain(
      "the tools were read_file, and now are",
    )
  })

  test("ends where the recording does", async () => {
    const replay = replayFrom(recordingOf(await recordedTurns()), settled)
    expect(await failureOf(replay, requestOf({ replyIndex: 6 }))).toBe(
      "there is no reply 6 of the recording, for which the planner asks",
    )
  })

  test("stops when it is aborted", async () => {
    const replay = replayFrom(recordingOf(await recordedTurns()), settled)
    const items = await itemsOf(replay.ask(turns("")[0] ?? requestOf(), AbortSignal.abort()))
    expect(items).toMatchObject([{ kind: "failure", failure: { kind: "aborted" } }])
  })
})
