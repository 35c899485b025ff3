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
import { modelRoom } from "../wiring/session-models.ts"
import type { Wiring } from "../wiring/wire.ts"

/** What the model server offers and can do, outside of any session. */
export interface ModelVerbs {
  listModels(request: ModelCheckRequest): Promise<ModelListing>
  /** Tries one out, whatever is known about it. */
  probeModel(request: ModelCheckRequest): Promise<ProbedModel>
}

export interface ModelCheckRequest {
  /** As `--model` takes it; null is the one a session would use. */
  readonly model: string | null
  /** What was typed; the configured one otherwise. */
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
  /** From the request to the first word. */
  readonly firstTokenMs: number
  readonly notes: readonly string[]
  readonly externalCalls: ExternalCalls
}

export function modelVerbs(wiring: Wiring): ModelVerbs {
  return { listModels: look => list(wiring, look), probeModel: look => probe(wiring, look) }
}

function list(wiring: Wiring, look: ModelCheckRequest): Promise<ModelListing> {
  const typed = "`ACODE_MODEL_PROVIDER=anthropic acode models list --mode burst`"
  return looked(wiring, look, typed, async (found, room) => {
    const { server, models } = found
    const chosen = chosenOrNull(found, room)
    return {
      ...{ endpoint: server.endpoint, protocol: server.protocol },
      models: (models ?? []).map(model => ({ ...model, isChosen: model.name === chosen })),
    }
  })
}

function probe(wiring: Wiring, look: ModelCheckRequest): Promise<ProbedModel> {
  const typed = "`acode models probe anthropic/NAME --mode burst`"
  return looked(wiring, look, typed, async (found, room) => {
    const { server } = found
    const { name } = chosen(found, room)
    const { model, notes } = await knownModel(room, server, name, true)
    const firstTokenMs = await timeToFirstToken(wiring, room, server, model)
    return { ...model, endpoint: server.endpoint, protocol: server.protocol, firstTokenMs, notes }
  })
}

/** With what was asked elsewhere, which is told also when nothing comes of it: there is no session to record it. */
async function looked<Seen>(
  wiring: Wiring,
  look: ModelCheckRequest,
  typed: string,
  work: (found: FoundServer, room: ModelContext) => Promise<Seen>,
): Promise<Seen & { readonly externalCalls: ExternalCalls }> {
  const room = await modelRoom(wiring, look.notice, look.signal)
  try {
    const seen = await work(await consented(() => foundIn(room, look), typed), room)
    const { externalCalls = noExternalCalls } = room.externalCalls.take()
    return { ...seen, externalCalls }
  } finally {
    printCalls(room.externalCalls.take(), look.notice)
  }
}

/** A session consents by flags that these commands do not have. */
async function consented<Found>(find: () => Promise<Found>, typed: string): Promise<Found> {
  try {
    return await find()
  } catch (error) {
    if (!(error instanceof Failure) || error.report.kind !== "denied" || !isAboutConsent(error.report))
      throw error
    throw new Failure({ ...error.report, hint: `name who is asked: ${typed}` }, { cause: error })
  }
}

function isAboutConsent({ hint }: FailureReport): boolean {
  return hint?.includes("--mode burst --model") === true
}

async function foundIn(room: ModelContext, { model, mode }: ModelCheckRequest): Promise<FoundServer> {
  const rules = room.config.mode
  const meant = mode ?? usualMode(rules)
  checkMode(meant, null, rules)
  const consentsNow = meant === "burst" ? userName() : null
  return await findServer(room, { mode: meant, model, consentsNow, consented: null })
}

/** The one that the executor of a session would use. */
function chosen(found: FoundServer, { config }: ModelContext): ChosenName {
  return chosenModel(found, roleNames(config).executor)
}

/** A list is of use also where the configured name is not in it. */
function chosenOrNull(found: FoundServer, room: ModelContext): string | null {
  try {
    return chosen(found, room).name
  } catch {
    // Said by whoever wants to use it.
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
