import { type ExternalCalls, noExternalCalls } from "../../domain/external-calls.ts"
import { Failure, type FailureReport } from "../../domain/failure.ts"
import type { Mode, Protocol } from "../../domain/model-choice.ts"
import type { StageModel } from "../../domain/pipeline-settings.ts"
import { printCalls } from "../../models/external-call-log.ts"
import { checkMode, usualMode } from "../../models/mode.ts"
import { roleNames } from "../../models/name.ts"
import { serverProblem } from "../../models/problem.ts"
import { type ChosenName, chosenModel } from "../../models/select.ts"
import { type FoundServer, findServer, type ModelContext } from "../../models/server.ts"
import { modelSettings } from "../../models/settings.ts"
import { knownModel } from "../../models/stage-model.ts"
import type { ListedModel, ModelServer } from "../../provider/server.ts"
import { userName } from "../user-name.ts"
import { modelContext } from "../wiring/session-models.ts"
import type { Wiring } from "../wiring/wire.ts"

/** Questions to the model server outside of any session. */
export interface ModelVerbs {
  listModels(request: ModelCheckRequest): Promise<ModelListing>
  /** Probes a model, even when its profile is known. */
  probeModel(request: ModelCheckRequest): Promise<ProbedModel>
}

export interface ModelCheckRequest {
  /** The value of `--model`; null is the model that a session would use. */
  readonly model: string | null
  /** The typed mode; null for the configured one. */
  readonly mode: Mode | null
  readonly notice: (text: string) => void
  readonly signal: AbortSignal
}

export interface ModelListing {
  readonly endpoint: string
  readonly protocol: Protocol
  readonly models: readonly (ListedModel & { readonly isChosen: boolean })[]
  readonly externalCalls: ExternalCalls
}

export interface ProbedModel extends StageModel {
  readonly endpoint: string
  readonly protocol: Protocol
  /** The time from the request to the first word. */
  readonly firstTokenMs: number
  readonly notes: readonly string[]
  readonly externalCalls: ExternalCalls
}

export function modelVerbs(wiring: Wiring): ModelVerbs {
  return { listModels: request => list(wiring, request), probeModel: request => probe(wiring, request) }
}

function list(wiring: Wiring, request: ModelCheckRequest): Promise<ModelListing> {
  const typed = "`ACODE_MODEL_PROVIDER=anthropic acode models list --mode burst`"
  return ask(wiring, request, typed, async (found, context) => {
    const { server, models } = found
    const chosen = chosenOrNull(found, context)
    return {
      endpoint: server.endpoint,
      protocol: server.protocol,
      models: (models ?? []).map(model => ({ ...model, isChosen: model.name === chosen })),
    }
  })
}

function probe(wiring: Wiring, request: ModelCheckRequest): Promise<ProbedModel> {
  const typed = "`acode models probe anthropic/NAME --mode burst`"
  return ask(wiring, request, typed, async (found, context) => {
    const { server } = found
    const { name } = chosen(found, context)
    const { model, notes } = await knownModel(context, server, name, true)
    const firstTokenMs = await timeToFirstToken(wiring, context, server, model)
    return { ...model, endpoint: server.endpoint, protocol: server.protocol, firstTokenMs, notes }
  })
}

/** Returns an answer with the requests to remote servers. Prints them when it fails: no session records them. */
async function ask<Answer>(
  wiring: Wiring,
  request: ModelCheckRequest,
  typed: string,
  work: (found: FoundServer, context: ModelContext) => Promise<Answer>,
): Promise<Answer & { readonly externalCalls: ExternalCalls }> {
  const context = await modelContext(wiring, request.notice, request.signal)
  try {
    const answer = await work(await consented(() => foundIn(context, request), typed), context)
    const { externalCalls = noExternalCalls } = context.externalCalls.take()
    return { ...answer, externalCalls }
  } finally {
    printCalls(context.externalCalls.take(), request.notice)
  }
}

/** Replaces the hint of a missing consent: it names flags of a session that these commands do not have. */
async function consented<Found>(find: () => Promise<Found>, typed: string): Promise<Found> {
  try {
    return await find()
  } catch (error) {
    if (!(error instanceof Failure) || error.report.kind !== "denied" || !isAboutConsent(error.report))
      throw error
    throw new Failure({ ...error.report, hint: `name the provider to ask: ${typed}` }, { cause: error })
  }
}

function isAboutConsent({ hint }: FailureReport): boolean {
  return hint?.includes("--mode burst --model") === true
}

async function foundIn(context: ModelContext, { model, mode }: ModelCheckRequest): Promise<FoundServer> {
  const rules = context.config.mode
  const meant = mode ?? usualMode(rules)
  checkMode(meant, null, rules)
  const consentsNow = meant === "burst" ? userName() : null
  return await findServer(context, { mode: meant, model, consentsNow, consented: null })
}

/** Returns the model that the executor of a session would use. */
function chosen(found: FoundServer, { config }: ModelContext): ChosenName {
  return chosenModel(found, roleNames(config).executor)
}

/** Returns the chosen model of a list; null when the server does not have the configured one. */
function chosenOrNull(found: FoundServer, context: ModelContext): string | null {
  try {
    return chosen(found, context).name
  } catch {
    // A session that wants to use it reports this.
    return null
  }
}

async function timeToFirstToken(
  { clock }: Wiring,
  { config, signal }: ModelContext,
  server: ModelServer,
  model: StageModel,
): Promise<number> {
  const provider = server.provider(modelSettings(config, model))
  const messages = [
    { role: "user", text: "acode probe: answer with the word ready and nothing else" },
  ] as const
  const request = {
    stage: "agent",
    replyIndex: 0,
    model: model.name,
    messages,
    tools: [],
    format: null,
    outputTokensMax: null,
  } as const
  const beganMs = clock.monotonicMs()
  for await (const item of provider.ask(request, signal)) {
    if (item.kind === "failure") throw serverProblem(item.failure, server.endpoint)
    if (item.kind === "text" || item.kind === "call" || item.kind === "end") break
  }
  return Math.round(clock.monotonicMs() - beganMs)
}
