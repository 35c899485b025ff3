import * as z from "zod/mini"
import { lazily } from "../base/lazy.ts"
import { protocols } from "../domain/model-choice.ts"
import { type ModelSelection, StageModel } from "../domain/pipeline-settings.ts"

/** Where the models of a replay are: nowhere. */
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
 * The first line of a recording of real models: how each of them was asked. What a request holds depends on it, so a
 * replay has to know. Where the server was is left out, for a recording is passed on.
 */
export function modelsLine({ protocol, planner, executor, verifier, reviewer }: ModelSelection): string {
  return JSON.stringify({ schema: 1, models: { protocol, planner, executor, verifier, reviewer } })
}

/** Null for every other line. */
export function recordedModels(line: string): ModelSelection | null {
  if (!line.startsWith('{"schema":1,"models":')) return null
  try {
    const { success, data } = Header().safeParse(JSON.parse(line))
    return success ? { ...data.models, endpoint: replayed, consentBy: null } : null
  } catch {
    // A damaged line is told by whoever reads the replies.
    return null
  }
}

/** What was chosen for a replay is nothing that a session can go on with by itself. */
function isOfReplay(selection: ModelSelection | null): boolean {
  return selection?.endpoint === replayed
}

/**
 * The flag without which a session cannot go on, as a person types it; null when its replies come from a server. Where
 * the file lies is not recorded: it is theirs, and may be elsewhere by then.
 */
export function repliesFlag(selection: ModelSelection | null): string | null {
  if (selection === null) return "--script FILE"
  return isOfReplay(selection) ? "--replay FILE" : null
}
