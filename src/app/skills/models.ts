import type { Config } from "../../config/schema.ts"
import type { SkillSettings } from "../../domain/events/skill-events.ts"
import { Failure } from "../../domain/failure.ts"
import { type Mode, type Protocol, protocols, windowRules } from "../../domain/model-choice.ts"
import { apiKeyFor } from "../../models/destination.ts"
import { type CollectedCalls, externalCallLog } from "../../models/external-call-log.ts"
import { checkMode } from "../../models/mode.ts"
import { openServer } from "../../models/open-server.ts"
import { chosenModel, namedModel } from "../../models/select.ts"
import { egressOf, type FoundServer, findServer } from "../../models/server.ts"
import { modelSettings } from "../../models/settings.ts"
import { windowTokensOf } from "../../models/stage-model.ts"
import type { Provider } from "../../provider/contract.ts"
import { protocolTable } from "../../provider/protocol.ts"
import { collect } from "../../provider/reply.ts"
import { readEndpoint } from "../../provider/transport/endpoint.ts"
import { type ModelTier, modelTiers } from "../../skills/contract.ts"
import { createDefaultConfig, DEFAULT_MODEL_MAP, type ExecutorConfig } from "../../skills/executor.ts"
import type { ModelAsking } from "../../skills/model-client.ts"
import { userName } from "../user-name.ts"
import { type ModelChoice, wireProvider } from "../wiring/provider.ts"
import { modelContext } from "../wiring/session-models.ts"
import type { Wiring } from "../wiring/wire.ts"

export interface SkillModelRequest {
  readonly choice: ModelChoice
  /** The value of `--model`. */
  readonly model: string | null
  readonly mode: Mode
  /** True when the user typed the mode for this command, which for burst is the consent. */
  readonly isModeTyped: boolean
  /** True when a session is resumed, which may then also continue its recording. */
  readonly isResumed: boolean
  readonly notice: (text: string) => void
  readonly signal: AbortSignal
}

/** The models of a session of the skills lane. */
export interface SkillModels extends Disposable {
  readonly settings: SkillSettings
  readonly modelMap: Readonly<Record<ModelTier, string>>
  readonly ask: ModelAsking["ask"]
  /** Returns the requests to other machines that finding the models took. */
  readonly takeCalls: CollectedCalls["take"]
}

/** Finds the server and names the model of each tier. With a script or a recording nothing is opened. */
export async function skillModels(wiring: Wiring, request: SkillModelRequest): Promise<SkillModels> {
  const { values } = await wiring.config()
  const { choice, mode } = request
  checkMode(mode, null, values.mode)
  const redactor = await wiring.redactor([])
  const isFromFile = choice.script !== undefined || choice.replay !== undefined
  const context = isFromFile ? null : await modelContext(wiring, request.notice, request.signal)
  const found = context === null ? null : await findServer(context, wishOf(request))
  const server = found === null ? null : await serverOf(wiring, request, found)
  const calls = new WeakMap<object, CollectedCalls>()
  const provider = await wireProvider({
    choice,
    selected: null,
    isResumed: request.isResumed,
    root: wiring.root.path,
    server: server === null ? null : serverProvider(wiring, server, mode, calls),
    redactText: text => redactor.redactText(text),
  })
  return {
    settings: { mode, server },
    modelMap: server?.models ?? { opus: "opus", sonnet: "sonnet", haiku: "haiku" },
    takeCalls: () => context?.externalCalls.take() ?? {},
    ask: async (asked, signal) => {
      const reply = await collect(provider.provider.ask(asked, signal), signal)
      return { reply, externalCalls: calls.get(asked)?.take().externalCalls }
    },
    [Symbol.dispose]: () => provider[Symbol.dispose](),
  }
}

function wishOf({ mode, model, isModeTyped }: SkillModelRequest) {
  const consentsNow = mode === "burst" && isModeTyped ? userName() : null
  return { mode, model, consentsNow, consented: null }
}

async function serverOf(
  wiring: Wiring,
  { notice }: SkillModelRequest,
  found: FoundServer,
): Promise<NonNullable<SkillSettings["server"]>> {
  const { values } = await wiring.config()
  const { server, consentBy, named } = found
  const isTier = modelTiers.some(tier => tier === named?.name)
  const only = named === null || isTier ? null : namedModel(named, found).name
  const nameOf = (tier: ModelTier): string => {
    const meant = modelTiers.find(each => each === named?.name) ?? tier
    const configured = values.models.tiers[meant]
    if (only !== null || configured !== null) return only ?? configured ?? ""
    if (protocolTable[server.protocol].ownModels?.test(DEFAULT_MODEL_MAP[meant]))
      return DEFAULT_MODEL_MAP[meant]
    const chosen = chosenModel({ ...found, named: null }, values.model.name)
    if (chosen.why !== null && tier === values.skills.default_tier)
      notice(`model ${chosen.name} at ${server.endpoint}: ${chosen.why}`)
    return chosen.name
  }
  if (consentBy !== null)
    notice(
      `burst: tasks, skills and files of this workspace, redacted, leave this machine for ${server.protocol} at ` +
        `${server.endpoint}, as ${consentBy} agreed`,
    )
  const models = { opus: nameOf("opus"), sonnet: nameOf("sonnet"), haiku: nameOf("haiku") }
  return { protocol: server.protocol, endpoint: server.endpoint, consentBy, models }
}

/** Asks the server anew for each request, so that what left this machine is known for each of them. */
function serverProvider(
  wiring: Wiring,
  server: NonNullable<SkillSettings["server"]>,
  mode: Mode,
  kept: WeakMap<object, CollectedCalls>,
): Provider {
  const protocol = protocolOf(server.protocol)
  const endpoint = readEndpoint(server.endpoint)
  if (endpoint.problem !== undefined)
    throw new Failure({
      kind: "unavailable",
      code: "ACODE-MODEL-001",
      where: "model",
      hint: "name another model",
      message: `the address of the model server cannot be used: ${endpoint.problem}`,
    })
  const windows = new Map<string, Promise<number>>()
  return {
    name: protocol,
    ask: async function* (request, signal) {
      const { values } = await wiring.config()
      const { environment } = wiring.request
      const externalCalls = externalCallLog(wiring.clock)
      kept.set(request, externalCalls)
      const opened = await openServer({
        protocol,
        endpoint,
        externalCalls,
        egress: egressOf(mode, values.model.endpoint, server.endpoint, server.consentBy),
        apiKey: apiKeyFor(protocol, endpoint, values, environment),
      })
      const name = request.model ?? server.models.sonnet
      // Only some servers take the size of the window from a request.
      const windowTokens =
        windowRules[protocol] === "requested" ? await windowOf(wiring, windows, opened, name, signal) : null
      const outputTokensMax = request.outputTokensMax ?? values.model.parameters.max_tokens
      yield* opened
        .provider(modelSettings(values, { name, windowTokens, outputTokensMax }))
        .ask(request, signal)
    },
  }
}

async function windowOf(
  wiring: Wiring,
  windows: Map<string, Promise<number>>,
  server: Parameters<typeof windowTokensOf>[1],
  name: string,
  signal: AbortSignal,
): Promise<number> {
  const known = windows.get(name)
  if (known !== undefined) return known
  const context = await modelContext(wiring, () => undefined, signal)
  const asked = windowTokensOf(context, server, name)
  windows.set(name, asked)
  asked.catch(() => windows.delete(name))
  return asked
}

function protocolOf(text: string): Protocol {
  const found = protocols.find(protocol => protocol === text)
  if (found === undefined) throw new Error(`the protocol ${text} is not known`)
  return found
}

/** Returns what the configuration and the flags of a command say about requests. */
export function executorConfig(
  { skills }: Config,
  modelMap: ExecutorConfig["modelMap"],
  maxTokens: number | null,
) {
  return createDefaultConfig({
    modelMap,
    defaultModelTier: skills.default_tier,
    defaultTimeoutMs: Math.round(skills.timeout_seconds * 1000),
    defaultMaxTokens: maxTokens ?? skills.max_tokens,
    maxRetries: skills.retry_count,
    retryDelayMs: skills.retry_delay_ms,
    retryJitter: skills.retry_jitter,
    retryableErrors: skills.retryable,
    foundationSkill: skills.foundation,
    strictContext: skills.strict_context,
  })
}
