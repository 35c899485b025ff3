import type { ModelSelection, PipelineSettings } from "../../domain/pipeline/settings.ts"
import type { AgentSurface } from "../agent-surface.ts"
import { readRecordingFile } from "../recording-store.ts"
import { userName } from "../user-name.ts"
import type { Wiring } from "../wire.ts"
import type { ModelRoom, ServerWish } from "./found-server.ts"
import { checkMode } from "./mode.ts"
import { isOfReplay } from "./recorded-models.ts"
import { usualServers } from "./usual-servers.ts"

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

/**
 * The settings of a session with its models chosen. What was recorded holds, the consent included, until somebody says
 * otherwise. A script or a recording needs no server, and then nothing is opened at all.
 */
export async function withModels(
  wiring: Wiring,
  { settings, before, said }: ChosenSettings,
  surface: Pick<AgentSurface, "model" | "notice" | "stopping">,
): Promise<PipelineSettings> {
  const { values } = await wiring.config()
  checkMode(settings.mode, before?.mode ?? null, values.mode)
  const { script, record, replay } = surface.model
  if (script !== undefined) return { ...settings, selection: null }
  if (replay !== undefined) return { ...settings, selection: record === undefined ? modelsOf(replay) : null }
  const isKnown = settings.selection !== null && !isOfReplay(settings.selection)
  if (before !== null && isKnown && !said.model && !said.mode) return settings
  // Who takes back the consent means the provider as well, unless another one is named.
  const isRevoked = before?.mode === "burst" && settings.mode !== "burst" && !said.model
  const model = isRevoked ? null : settings.model
  const { drain, stop } = surface.stopping
  const room = await modelRoom(wiring, surface.notice, AbortSignal.any([drain, stop]))
  const isTyped = before === null || said.mode
  const wish: ServerWish = {
    ...{ mode: settings.mode, model },
    consentsNow: settings.mode === "burst" && isTyped ? userName() : null,
    consented: consentOf(before),
  }
  // Loaded when it is asked for: it brings the transport and the ladder along.
  const { selectModels } = await import("./select.ts")
  return { ...settings, model, selection: await selectModels(room, wish) }
}

/** Asked in the same way as they were, or the recording would not be theirs. */
function modelsOf(replay: string): ModelSelection | null {
  return readRecordingFile({ path: replay, flag: "--replay" }).models
}

export async function modelRoom(
  wiring: Wiring,
  notice: ModelRoom["notice"],
  signal: AbortSignal,
): Promise<ModelRoom> {
  const { environment } = wiring.request
  const { values: config } = await wiring.config()
  return {
    ...{ config, environment, notice, signal },
    usualServers: wiring.request.usualServers ?? usualServers,
  }
}

function consentOf(before: PipelineSettings | null): ServerWish["consented"] {
  const selection = before?.selection ?? null
  if (selection === null || selection.consentBy === null) return null
  return { endpoint: selection.endpoint, by: selection.consentBy }
}
