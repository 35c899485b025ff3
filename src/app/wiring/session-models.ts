import { Failure } from "../../domain/failure.ts"
import type { ModelSelection, PipelineSettings } from "../../domain/pipeline-settings.ts"
import { checkRecorded } from "../../models/destination.ts"
import { type CollectedCalls, externalCallLog, printCalls } from "../../models/external-call-log.ts"
import { checkMode } from "../../models/mode.ts"
import { repliesFlag } from "../../models/recorded.ts"
import type { FoundServer, ModelContext, ServerWish } from "../../models/server.ts"
import { usualServers } from "../../provider/protocol.ts"
import { userName } from "../user-name.ts"
import type { AgentSurface } from "./agent-surface.ts"
import { readRecordingFile } from "./recording-store.ts"
import type { Wiring } from "./wire.ts"

/** What a person said about models on this command line, apart from what a session has recorded. */
export interface SaidOfModels {
  readonly model: boolean
  readonly mode: boolean
}

export interface ChosenSettings {
  readonly settings: PipelineSettings
  /** What the session had; null for a new one. */
  readonly before: PipelineSettings | null
  readonly said: SaidOfModels
}

/** A look for the models of a session. Disposing of it ends what is still being asked. */
export interface ModelLookup extends Disposable {
  /** The settings with their models. A model that nobody knows is tried out, which may take long. */
  choose(): Promise<PipelineSettings>
  /** What was asked elsewhere so far, for the event that records it. What is not taken is told to the person. */
  takeCalls: CollectedCalls["take"]
}

/**
 * Asks the server, which answers while other things are done. What was recorded holds, the consent included, until
 * somebody says otherwise, here or in the configuration; only a window is never larger than the server says it is by
 * now. A script or a recording needs no server, and then nothing is opened at all.
 */
export async function lookForModels(
  wiring: Wiring,
  chosen: ChosenSettings,
  surface: Pick<AgentSurface, "model" | "notice" | "stopping">,
): Promise<ModelLookup> {
  const over = new AbortController()
  const { drain, stop } = surface.stopping
  const { settings, search } = await wanted(
    wiring,
    chosen,
    surface,
    AbortSignal.any([drain, stop, over.signal]),
  )
  const takeCalls = () => search?.room.externalCalls.take() ?? {}
  return {
    takeCalls,
    choose: async () => {
      if (search === null) return settings
      const { selectModels } = await import("../../models/select.ts")
      return { ...settings, selection: await selectModels(search.room, await search.found) }
    },
    [Symbol.dispose]: () => {
      over.abort()
      printCalls(takeCalls(), surface.notice)
    },
  }
}

interface Wanted {
  readonly settings: PipelineSettings
  /** Null when the settings say which models, or that there are none. */
  readonly search: { readonly room: ModelContext; readonly found: Promise<FoundServer> } | null
}

async function wanted(
  wiring: Wiring,
  { settings, before, said }: ChosenSettings,
  { model: source, notice }: Pick<AgentSurface, "model" | "notice">,
  signal: AbortSignal,
): Promise<Wanted> {
  const { values } = await wiring.config()
  checkMode(settings.mode, before?.mode ?? null, values.mode)
  const { script, record, replay } = source
  if (script !== undefined) return { settings: { ...settings, selection: null }, search: null }
  if (replay !== undefined) {
    const selection = record === undefined ? modelsOf(replay) : null
    return { settings: { ...settings, selection }, search: null }
  }
  const room = await modelRoom(wiring, notice, signal)
  if (before !== null && !said.model) {
    const flag = repliesFlag(settings.selection)
    if (flag !== null) throw repliesMissing(flag)
    if (!said.mode) {
      const { isMoved } = await import("../../models/moved-server.ts")
      checkRecorded(settings.mode, settings.selection?.endpoint ?? "", values.model.endpoint)
      if (!isMoved(room, settings)) {
        const { withPresentWindows } = await import("../../models/present-windows.ts")
        return { settings: await withPresentWindows(room, settings), search: null }
      }
    }
  }
  // Who takes back the consent means the provider as well, unless another one is named.
  const isRevoked = before?.mode === "burst" && settings.mode !== "burst" && !said.model
  const model = isRevoked ? null : settings.model
  const isTyped = before === null || said.mode
  // Loaded when it is asked for: it brings the transport along.
  const { askForServer } = await import("../../models/server.ts")
  const { found } = await askForServer(room, {
    ...{ mode: settings.mode, model },
    consentsNow: settings.mode === "burst" && isTyped ? userName() : null,
    consented: consentOf(before),
  })
  // Told to whoever chooses.
  found.catch(() => undefined)
  return { settings: { ...settings, model }, search: { room, found } }
}

/** A server would go on with what it never said; only a person can mean that. */
function repliesMissing(flag: string): Failure {
  return new Failure({
    kind: "usage",
    code: "ACODE-CLI-003",
    message: "the replies of this session came from a file, and none is given",
    where: "acode resume",
    hint: `say ${flag}${flag.startsWith("--script") ? " (or --replay FILE)" : ""}; or let a server go on: --model NAME`,
  })
}

/** Asked in the same way as they were, or the recording would not be theirs. */
function modelsOf(replay: string): ModelSelection | null {
  return readRecordingFile({ path: replay, flag: "--replay" }).models
}

export async function modelRoom(
  wiring: Wiring,
  notice: ModelContext["notice"],
  signal: AbortSignal,
): Promise<ModelContext> {
  const { environment } = wiring.request
  const { values: config } = await wiring.config()
  return {
    ...{ config, environment, notice, signal },
    externalCalls: externalCallLog(wiring.clock),
    usualServers: wiring.request.usualServers ?? usualServers,
  }
}

function consentOf(before: PipelineSettings | null): ServerWish["consented"] {
  const selection = before?.selection ?? null
  if (selection === null || selection.consentBy === null) return null
  return { endpoint: selection.endpoint, by: selection.consentBy }
}
