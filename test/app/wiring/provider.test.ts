import { afterEach, beforeEach, describe, expect, test } from "bun:test"
import { chmodSync, mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { scriptJsonSchema } from "../../../src/app/verbs/script-json-schema.ts"
import { type ModelChoice, wireProvider } from "../../../src/app/wiring/provider.ts"
import { defaultConfig } from "../../../src/config/defaults.ts"
import { readEnvironment } from "../../../src/config/environment.ts"
import { exitCodeOf, Failure, type FailureReport } from "../../../src/domain/failure.ts"
import type { SelectedModels } from "../../../src/models/provider.ts"
import type { ModelRequest, Provider } from "../../../src/provider/contract.ts"
import { collect } from "../../../src/provider/reply.ts"
import { fakeModel } from "../../models/model-room.ts"
import { nothingLeaves } from "../../support/external-calls.ts"
import { testWhere } from "../../support/requirement.ts"
import { type TempWorkspace, tempWorkspace } from "../../support/workspace/temp-workspace.ts"

const never = new AbortController().signal
const oneReply = "replies:\n  - stage: planner\n    text: hello\n"

let temp: TempWorkspace
beforeEach(() => {
  temp = tempWorkspace()
})
afterEach(() => temp[Symbol.dispose]())

const unusable: SelectedModels = {
  selection: {
    protocol: "ollama",
    endpoint: "nowhere",
    consentBy: null,
    planner: fakeModel,
    executor: fakeModel,
    verifier: fakeModel,
    reviewer: fakeModel,
  },
  mode: "local-only",
  // as: every key has its default there; the schema only narrows the types.
  config: defaultConfig as unknown as SelectedModels["config"],
  environment: readEnvironment({}),
  externalCalls: nothingLeaves,
}

function wire(choice: ModelChoice, isResumed = false) {
  const redactText = (text: string) => text.replaceAll("hunter2", "[REDACTED:password]")
  return wireProvider({ choice, selected: unusable, isResumed, root: temp.root, redactText })
}

async function refusal(choice: ModelChoice, isResumed = false): Promise<FailureReport> {
  try {
    await wire(choice, isResumed)
  } catch (error) {
    if (error instanceof Failure) return error.report
    throw error
  }
  throw new Error("it was not refused")
}

function ask(provider: Provider, request: Partial<ModelRequest> = {}) {
  const messages = [{ role: "user" as const, text: "do it" }]
  const whole = {
    stage: "planner" as const,
    replyIndex: 0,
    model: null,
    messages,
    tools: [],
    format: null,
    outputTokensMax: null,
  }
  return collect(provider.ask({ ...whole, ...request }, never), never)
}

describe("a script", () => {
  test("is read from YAML and from JSON alike", async () => {
    const json = JSON.stringify({ replies: [{ stage: "planner", text: "hello" }] }, null, 2)
    const files = { "a.yml": oneReply, "b.json": json, "c.json": `\ufeff\n ${json}` }
    for (const [name, text] of Object.entries(files)) {
      using wired = await wire({ script: temp.write(name, text) })
      expect((await ask(wired.provider)).text, name).toBe("hello")
      expect(wired.recordingFile).toBeNull()
    }
  })

  test("of thousands of calls is read as JSON", async () => {
    const replies = Array.from({ length: 3_000 }, (_, index) => ({
      stage: "executor",
      calls: [{ tool: "read_file", args: { path: `${index}` } }],
    }))
    using wired = await wire({ script: temp.write("long.json", JSON.stringify({ replies })) })
    const reply = await ask(wired.provider, { stage: "executor", replyIndex: 2_999 })
    expect(reply.calls).toEqual([{ id: "call_2999_1", tool: "read_file", arguments: { path: "2999" } }])
  })

  test("that is too large for YAML says how it can be written", async () => {
    const replies = `  - { stage: agent, text: x }\n`.repeat(600)
    const report = await refusal({ script: temp.write("long.yml", `replies:\n${replies}`) })
    expect(report.message).toContain("write a script of this size as JSON")
  })

  test("with mistakes is refused with all of them, as a mistake of whoever named it", async () => {
    const script = temp.write(
      "bad.yml",
      "replies:\n  - stage: plumber\n    text: x\n  - text: 7\nmood: good\n",
    )
    const report = await refusal({ script })
    expect(report).toMatchObject({ kind: "usage", code: "ACODE-MODEL-002", where: script })
    expect(report.message.split("\n")).toEqual([
      "the script is not valid:",
      "  $.mood: is an unknown property",
      "  $.replies[0].stage: must be one of planner, executor, verifier, reviewer, agent",
      "  $.replies[1].stage: is missing",
      "  $.replies[1].text: must be text in quotes",
    ])
  })

  test("with more mistakes than anybody reads says how many more there are", async () => {
    const replies = Array.from({ length: 60 }, () => ({ stage: "planner" }))
    const report = await refusal({ script: temp.write("bad.json", JSON.stringify({ replies })) })
    expect(report.message.split("\n")).toHaveLength(52)
    expect(report.message).toEndWith("  and 10 more")
  })

  test("that is neither YAML nor JSON is refused with the place", async () => {
    const torn = await refusal({
      script: temp.write("torn.json", '{"replies": [\n  {"stage": "planner",,}]}'),
    })
    expect(torn.code).toBe("ACODE-MODEL-002")
    expect(torn.message).toMatch(/line 2, column \d+: /)
    const empty = await refusal({ script: temp.write("empty.yml", "") })
    expect(empty.message).toContain("a script is an object with replies")
  })

  test("that cannot be read is refused with the reason", async () => {
    mkdirSync(join(temp.root, "directory"))
    const missing = await refusal({ script: join(temp.root, "none.yml") })
    expect(missing).toMatchObject({
      code: "ACODE-FS-002",
      message: "the file given to --script does not exist",
    })
    expect(exitCodeOf(missing.kind)).toBe(2)
    expect(await refusal({ script: join(temp.root, "directory") })).toMatchObject({ code: "ACODE-FS-003" })
    expect(await refusal({ script: "/dev/null" })).toMatchObject({ code: "ACODE-FS-003" })
    const binary = temp.write("binary.yml", new Uint8Array([0xff, 0xfe, 0x00]))
    expect(await refusal({ script: binary })).toMatchObject({ code: "ACODE-FS-009" })
    const large = temp.write("large.json", `{"replies":"${"x".repeat(16_000_000)}"}`)
    expect(await refusal({ script: large })).toMatchObject({
      code: "ACODE-FS-006",
      message: "the file given to --script is larger than 16 MB",
    })
  })

  test("has a JSON Schema, for an editor", () => {
    const schema = scriptJsonSchema()
    expect(schema).toMatchObject({ title: "acode script", type: "object", required: ["replies"] })
    expect(JSON.stringify(schema)).toContain('"rate_limit"')
  })
})

describe("without a server that can be used", () => {
  test("it is said what to do", async () => {
    const report = await refusal({})
    expect(report).toMatchObject({ kind: "unavailable", code: "ACODE-MODEL-001" })
    expect(report.message).toStartWith("the address that the session has recorded cannot be used: nowhere")
    expect(exitCodeOf(report.kind)).toBe(4)
  })

  test("nothing is recorded, and no file is made", async () => {
    const record = join(temp.root, "new.jsonl")
    await refusal({ record })
    expect(() => statSync(record)).toThrow()
  })

  test("a replay does without, and takes no other source", async () => {
    const script = temp.write("a.yml", oneReply)
    expect(await refusal({ script, replay: "x" })).toMatchObject({ kind: "usage", code: "ACODE-CLI-002" })
    expect((await refusal({ record: "y", replay: "x" })).message).toBe(
      "--replay and --record cannot be given together",
    )
    expect(await refusal({ replay: join(temp.root, "none") })).toMatchObject({ code: "ACODE-FS-002" })
  })
})

describe("a recording", () => {
  test("is written as one line a reply, for its owner alone, and says the same again", async () => {
    const script = temp.write("a.yml", oneReply.replace("hello", "the key is hunter2"))
    const record = join(temp.root, "session.jsonl")
    {
      using wired = await wire({ script, record })
      expect((await ask(wired.provider)).text).toBe("the key is hunter2")
      const { dev, ino, mode } = statSync(record)
      expect(wired.recordingFile).toBe(`${dev}:${ino}`)
      expect(mode & 0o777).toBe(0o600)
    }
    const written = readFileSync(record, "utf8")
    expect(written.split("\n")).toHaveLength(2)
    expect(written).not.toContain("hunter2")
    using again = await wire({ replay: record })
    expect((await ask(again.provider)).text).toBe("the key is [REDACTED:password]")
  })

  test("can be replayed in another copy of the workspace", async () => {
    const record = join(temp.root, "session.jsonl")
    const at = (root: string) => ({ messages: [{ role: "user" as const, text: `see ${root}/a.ts` }] })
    using wired = await wire({ script: temp.write("a.yml", oneReply), record })
    await ask(wired.provider, at(temp.root))
    const elsewhere = {
      selected: null,
      isResumed: false,
      root: "/elsewhere",
      redactText: (text: string) => text,
    }
    using again = await wireProvider({ choice: { replay: record }, ...elsewhere })
    expect((await ask(again.provider, at("/elsewhere"))).text).toBe("hello")
    expect((await ask(again.provider, at("/nowhere"))).failure?.kind).toBe("script")
  })

  test("does not write over anything, nor through a symlink", async () => {
    const script = temp.write("a.yml", oneReply)
    const precious = temp.write("precious.txt", "mine\n")
    expect(await refusal({ script, record: precious })).toMatchObject({ kind: "usage", code: "ACODE-FS-008" })
    const link = join(temp.root, "link")
    symlinkSync(join(temp.root, "target"), link)
    expect(await refusal({ script, record: link })).toMatchObject({ code: "ACODE-FS-003" })
    expect(await refusal({ script, record: precious }, true)).toMatchObject({ code: "ACODE-MODEL-003" })
    expect(readFileSync(precious, "utf8")).toBe("mine\n")
    const nowhere = join(temp.root, "missing/session.jsonl")
    expect(await refusal({ script, record: nowhere })).toMatchObject({
      code: "ACODE-FS-002",
      message: "the directory of the file given to --record does not exist",
    })
  })

  test("goes on when its session does, behind the last whole line", async () => {
    const script = temp.write("a.yml", `${oneReply}  - stage: planner\n    text: grün\n`)
    const record = join(temp.root, "session.jsonl")
    {
      using wired = await wire({ script, record })
      await ask(wired.provider)
    }
    const whole = readFileSync(record)
    // In the middle of the ü of a second line.
    writeFileSync(record, Buffer.concat([whole, Buffer.from('{"text":"gr'), Buffer.from([0xc3])]))
    {
      using cut = await wire({ replay: record })
      expect((await ask(cut.provider)).text).toBe("hello")
    }
    {
      using resumed = await wire({ script, record }, true)
      await ask(resumed.provider, { replyIndex: 1 })
    }
    expect(readFileSync(record).subarray(0, whole.length)).toEqual(whole)
    using again = await wire({ replay: record })
    expect((await ask(again.provider, { replyIndex: 1 })).text).toBe("grün")
  })

  test("that is something else is named with its first wrong line", async () => {
    const replay = temp.write("other.jsonl", "{}\nx\n")
    expect((await refusal({ replay })).message).toBe(
      "the file given to --replay is not a recording: line 1 is not a recorded reply of this version, and 1 more line",
    )
  })

  const unprivilegedTest = testWhere(process.getuid?.() === 0 ? "root may write everywhere" : null)
  unprivilegedTest("of a user who may not write there is refused", async () => {
    const script = temp.write("a.yml", oneReply)
    const locked = join(temp.outside, "locked")
    mkdirSync(locked)
    chmodSync(locked, 0o500)
    expect(await refusal({ script, record: join(locked, "x") })).toMatchObject({ code: "ACODE-FS-005" })
    chmodSync(locked, 0o700)
  })
})
