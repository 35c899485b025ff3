import { canonicalJson, type Json, sha256Hex } from "../../base/canonical.ts"
import { oneLine } from "../../base/text.ts"
import { type Rung, rungs } from "../../domain/model-choice.ts"
import { withoutThinking } from "../../domain/text/thinking.ts"
import type {
  ModelFailure,
  ModelFailureKind,
  ModelReply,
  ModelRequest,
  Provider,
  ToolDescription,
} from "../contract.ts"
import { listOf, objectOf, textOrNull } from "../fields.ts"
import { collect } from "../reply.ts"
import type { ModelFacts } from "../server.ts"
import type { ModelProbe, ProbeResult } from "./contract.ts"
import { readJson, skipSpace } from "./json-text.ts"
import { withRung } from "./ladder.ts"
import { actionSchema } from "./rung-request.ts"

interface ProbeSubject {
  /** Configured with the window that will be used, so that a server does not load the model twice. */
  readonly provider: Provider
  readonly model: string
  readonly declaresTools: ModelFacts["declaresTools"]
}

/**
 * Probes what a model can do by making it do it, best rung first: declarations of servers about models are often wrong.
 */
export async function probeModel(subject: ProbeSubject, signal: AbortSignal): Promise<ProbeResult> {
  const { provider, model, declaresTools } = subject
  const notes: string[] = []
  let isSure = true
  for (const { rung, request, isRight } of probeTests(model)) {
    if (rung === "native" && declaresTools === false) {
      notes.push("native: not tried, the server says that the model cannot call tools")
      continue
    }
    const tested = rung === "text" ? withRung(provider, rung) : provider
    const reply = await unbrokenReply(tested, request, signal)
    if (reply.failure !== null && isEnd(reply.failure)) return { failure: reply.failure }
    if (reply.failure === null && reply.end !== "length" && isRight(reply))
      return { probe: { rung, notes: [...notes, `${rung}: works`] }, isSure }
    if (isBroken(reply)) isSure = false
    notes.push(`${rung}: does not work (${whyNot(reply)})`)
  }
  notes.push("no rung works; text is used nevertheless")
  return { probe: { rung: "text", notes }, isSure }
}

/** Kinds of failure that say nothing about the model; nothing learned from them is cached. */
const endKinds: ReadonlySet<ModelFailureKind> = new Set([
  "unavailable",
  "auth",
  "notFound",
  "rateLimited",
  "overloaded",
  "timeout",
  "aborted",
])

function isEnd({ kind }: ModelFailure): boolean {
  return endKinds.has(kind)
}

/** Kinds of failure that the connection may cause as well as the model. */
const brokenKinds: ReadonlySet<ModelFailureKind> = new Set(["truncated", "malformed"] as const)

function isBroken({ failure }: ModelReply): boolean {
  return failure !== null && brokenKinds.has(failure.kind)
}

/** Repeats the request once after a broken reply, because a single one says little about a model. */
async function unbrokenReply(
  provider: Provider,
  request: ModelRequest,
  signal: AbortSignal,
): Promise<ModelReply> {
  const reply = await collect(provider.ask(request, signal), signal)
  return isBroken(reply) ? collect(provider.ask(request, signal), signal) : reply
}

interface ProbeTest {
  readonly rung: Rung
  readonly request: ModelRequest
  readonly isRight: (reply: ModelReply) => boolean
}

const probeTool: ToolDescription = {
  name: "acode_probe",
  description: "Shows that tools can be called.",
  parameters: {
    type: "object",
    properties: { word: { type: "string" }, count: { type: "integer" } },
    required: ["word", "count"],
    additionalProperties: false,
  },
}

const probeArguments = { word: "ready", count: 7 }

/**
 * Returns the tests. On the native rung nothing is salvaged: a model that prints its calls works better where a schema
 * forces them. The prompt does not describe the JSON, to detect a server that ignores the schema.
 */
function probeTests(model: string): readonly ProbeTest[] {
  const text = `acode probe: call the tool ${probeTool.name} once, with the arguments ${JSON.stringify(probeArguments)}`
  const request: ModelRequest = {
    stage: "agent",
    replyIndex: 0,
    model,
    tools: [],
    format: null,
    outputTokensMax: null,
    messages: [{ role: "user", text }],
  }
  const format = { name: probeTool.name, schema: actionSchema([probeTool]) }
  return [
    { rung: "native", request: { ...request, tools: [probeTool] }, isRight: callsRightly },
    { rung: "constrained", request: { ...request, format }, isRight: answersRightly },
    { rung: "text", request: { ...request, tools: [probeTool] }, isRight: callsRightly },
  ]
}

function callsRightly({ calls }: ModelReply): boolean {
  const [call] = calls
  return calls.length === 1 && call?.tool === probeTool.name && Bun.deepEquals(call.arguments, probeArguments)
}

function answersRightly({ text }: ModelReply): boolean {
  const answer = withoutThinking(text)
  const reading = readJson(answer, skipSpace(answer, 0))
  if (reading.problem !== undefined || skipSpace(answer, reading.end) < answer.length) return false
  return Bun.deepEquals(reading.value, { tool: probeTool.name, arguments: probeArguments })
}

function whyNot({ failure, problems, calls, text }: ModelReply): string {
  if (failure !== null) return brief(failure.message)
  const [problem] = problems
  if (problem !== undefined) return brief(problem)
  if (calls.length > 0)
    return brief(`it called ${calls.map(({ tool }) => tool).join(", ")} otherwise than it was tested to`)
  return text.trim() === "" ? "it answered nothing" : brief(`it answered ${JSON.stringify(text.trim())}`)
}

function brief(text: string): string {
  return oneLine(text, 160)
}

/**
 * Returns the cache key: the same for the same content of a model on the same server, probed by the same version of
 * acode. The server's declaration about tools decides which rungs are tested, so it is included. Valid as a file name.
 */
export function probeKey(
  endpoint: string,
  model: string,
  { digest, declaresTools }: Pick<ModelFacts, "digest" | "declaresTools">,
  acodeVersion: string,
): string {
  return sha256Hex(canonicalJson([endpoint, model, digest, declaresTools, acodeVersion]))
}

export function encodeProbe(key: string, probe: ModelProbe): string {
  return `${canonicalJson({ schema: 2, key, probe })}\n`
}

/**
 * Decodes a probe. Returns null for anything but what `encodeProbe` wrote for this key: then the model is probed again.
 */
export function decodeProbe(key: string, text: string): ModelProbe | null {
  const probe = probeIn(text)
  return probe !== null && encodeProbe(key, probe) === text ? probe : null
}

/** Decodes by hand: building a schema takes longer than everything else between the start and the first request. */
function probeIn(text: string): ModelProbe | null {
  const probe = objectOf(objectOf(parsed(text))?.["probe"])
  const rung = rungs.find(known => known === probe?.["rung"])
  const notes = listOf(probe?.["notes"]).flatMap(note => textOrNull(note) ?? [])
  return rung === undefined || notes.length > notesMax ? null : { rung, notes }
}

const notesMax = 50

function parsed(text: string): Json {
  try {
    return JSON.parse(text)
  } catch {
    // A file that was cut off, or with other content.
    return null
  }
}
