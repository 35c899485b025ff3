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

/** Flags: which settings of models this command line gives, instead of those that the session has recorded. */
export interface ModelOverrides {
  readonly model: boolean
  readonly mode: boolean
}

export interface ChosenSettings {
  readonly settings: PipelineSettings
  /** The recorded settings of the session; null for a new one. */
  readonly before: PipelineSettings | null
  readonly said: ModelOverrides
}

/** A search for the models of a session. Disposing of it aborts its open requests. */
export interface ModelLookup extends Disposable {
  /** Returns the settings with their models. A model without a known profile is probed, which may take long. */
  choose(): Promise<PipelineSettings>
  /** Returns the requests to remote servers so far, for the event that records them. Others are printed as a notice. */
  takeCalls: CollectedCalls["take"]
}

/**
 * Asks the server in the background. Recorded settings hold, the consent included, unless this command line or the
 * configuration changes them; only a recorded window is reduced to the present one of the server. A script or a
 * recording needs no server, and then no connection is opened.
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
  const takeCalls = () => search?.context.externalCalls.take() ?? {}
  return {
    takeCalls,
    choose: async () => {
      if (search === null) return settings
      const { selectModels } = await import("../../models/select.ts")
      return { ...settings, selection: await selectModels(search.context, await search.found) }
    },
    [Symbol.dispose]: () => {
      over.abort()
      printCalls(takeCalls(), surface.notice)
    },
  }
}

interface Wanted {
  readonly settings: PipelineSettings
  /** The search for a server; null when the settings name the models, or that there are none. */
  readonly search: { readonly context: ModelContext; readonly found: Promise<FoundServer> } | null
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
  const context = await modelContext(wiring, notice, signal)
  if (before !== null && !said.model) {
    const flag = repliesFlag(settings.selection)
    if (flag !== null) throw repliesMissing(flag)
    if (!said.mode) {
      const { isMoved } = await import("../../models/moved-server.ts")
      checkRecorded(settings.mode, settings.selection?.endpoint ?? "", values.model.endpoint)
      if (!isMoved(context, settings)) {
        const { withPresentWindows } = await import("../../models/present-windows.ts")
        return { settings: await withPresentWindows(context, settings), search: null }
      }
    }
  }
  // Revoking the consent also drops the provider, unless the command line names another model.
  const isRevoked = before?.mode === "burst" && settings.mode !== "burst" && !said.model
  const model = isRevoked ? null : settings.model
  const isTyped = before === null || said.mode
  // Loaded only here: it imports the transport.
  const { askForServer } = await import("../../models/server.ts")
  const { found } = await askForServer(context, {
    mode: settings.mode,
    model,
    consentsNow: settings.mode === "burst" && isTyped ? userName() : null,
    consented: consentOf(before),
  })
  // The error is thrown to the caller of `choose`.
  found.catch(() => undefined)
  return { settings: { ...settings, model }, search: { context, found } }
}

/** Returns the failure for a scripted session without its script: continuing with a server needs a person's choice. */
function repliesMissing(flag: string): Failure {
  return new Failure({
    kind: "usage",
    code: "ACODE-CLI-003",
    message: "the replies of this session came from a file, and none is given",
    where: "acode resume",
    hint: `say ${flag}${flag.startsWith("--script") ? " (or --replay FILE)" : ""}; or continue with a server: --model NAME`,
  })
}

/** Returns the recorded selection of models: other requests would not match the recording. */
function modelsOf(replay: string): ModelSelection | null {
  return readRecordingFile({ path: replay, flag: "--replay" }).models
}

export async function modelContext(
  wiring: Wiring,
  notice: ModelContext["notice"],
  signal: AbortSignal,
): Promise<ModelContext> {
  const { environment } = wiring.request
  const { values: config } = await wiring.config()
  return {
    config,
    environment,
    notice,
    signal,
    externalCalls: externalCallLog(wiring.clock),
    usualServers: wiring.request.usualServers ?? usualServers,
  }
}

function consentOf(before: PipelineSettings | null): ServerWish["consented"] {
  const selection = before?.selection ?? null
  if (selection === null || selection.consentBy === null) return null
  return { endpoint: selection.endpoint, by: selection.consentBy }
}
