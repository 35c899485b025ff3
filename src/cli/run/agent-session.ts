import type { AppService } from "../../app/service.ts"
import { Failure } from "../../domain/failure.ts"
import type { PipelineState } from "../../domain/pipeline/state.ts"
import { shortId } from "../render/format.ts"

/** Returns the state of an agent session. Throws for a plan run, which is a session that cannot be resumed. */
export async function agentStateOf(app: AppService, sessionId: string): Promise<PipelineState> {
  const state = await app.agentState(sessionId)
  if (state !== null) return state
  const found = (await app.sessions())?.find(sessionId) ?? null
  const hasEnded = found?.endedAt != null
  const texts = found?.lane === "skill" ? taskTexts : hasEnded ? overText : runningText
  throw new Failure({
    kind: "usage",
    code: "ACODE-CLI-004",
    where: sessionId,
    ...texts(shortId(sessionId)),
  })
}

const taskTexts = (short: string) => ({
  message: "a session that executes tasks is not paused, cancelled or resumed from elsewhere",
  hint: `Ctrl-C at its own terminal ends it; \`acode agent run --pending\` finishes one whose process was killed; \`acode session show ${short}\` shows what it did`,
})

const overText = (short: string) => ({
  message: "this plan run has ended: there is nothing to pause, cancel or resume",
  hint: `\`acode session show ${short}\` shows what it did; \`acode plan run FILE\` runs the plan again`,
})

const runningText = (short: string) => ({
  message: "a plan run cannot be paused, cancelled or resumed from elsewhere",
  hint: `\`acode session show ${short}\` shows what it did; Ctrl-C at its own terminal ends it`,
})
