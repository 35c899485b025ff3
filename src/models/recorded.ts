import * as z from "zod/mini"
import { lazily } from "../base/lazy.ts"
import { protocols } from "../domain/model-choice.ts"
import { type ModelSelection, StageModel } from "../domain/pipeline-settings.ts"

/** The endpoint of the models of a replay, which does not exist. */
const replayed = "replay"

const Header = lazily(() =>
  z.strictObject({
    schema: z.literal(1),
    models: z.strictObject({
      protocol: z.enum(protocols),
      planner: StageModel(),
      executor: StageModel(),
      verifier: StageModel(),
      reviewer: StageModel(),
    }),
  }),
)

/**
 * Returns the first line of a recording of real models: the settings of each. The content of requests depends on them,
 * so a replay needs them. The endpoint is left out, because a recording is passed on.
 */
export function modelsLine({ protocol, planner, executor, verifier, reviewer }: ModelSelection): string {
  return JSON.stringify({ schema: 1, models: { protocol, planner, executor, verifier, reviewer } })
}

/** Returns null for every other line. */
export function recordedModels(line: string): ModelSelection | null {
  if (!line.startsWith('{"schema":1,"models":')) return null
  try {
    const { success, data } = Header().safeParse(JSON.parse(line))
    return success ? { ...data.models, endpoint: replayed, consentBy: null } : null
  } catch {
    // The code that reads the replies reports a damaged line.
    return null
  }
}

/** Reports whether the models were chosen for a replay, so that a session cannot continue without its recording. */
function isOfReplay(selection: ModelSelection | null): boolean {
  return selection?.endpoint === replayed
}

/**
 * Returns the flag that a session needs to continue, as the user types it; null when its replies come from a server.
 * The path of the file is not recorded: it belongs to the user and may have changed.
 */
export function repliesFlag(selection: ModelSelection | null): string | null {
  if (selection === null) return "--script FILE"
  return isOfReplay(selection) ? "--replay FILE" : null
}
