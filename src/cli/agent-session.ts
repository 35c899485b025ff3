import type { AppService } from "../app/service.ts"
import { Failure } from "../domain/failure.ts"
import type { PipelineState } from "../domain/pipeline/state.ts"

/** What the events of an agent session say; a plan run is a session too, but nobody can control or resume it. */
export async function agentStateOf(app: AppService, sessionId: string): Promise<PipelineState> {
  const state = await app.agentState(sessionId)
  if (state !== null) return state
  throw new Failure({
    kind: "usage",
    code: "ACODE-CLI-004",
    message: "a plan run cannot be paused, cancelled or resumed from elsewhere",
    where: sessionId,
    hint: "`acode session show` tells what it did; Ctrl-C at its own terminal ends it",
  })
}
