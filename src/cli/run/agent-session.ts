import type { AppService } from "../../app/service.ts"
import { Failure } from "../../domain/failure.ts"
import type { PipelineState } from "../../domain/pipeline/state.ts"
import type { CliContext } from "../context.ts"
import { shortId } from "../render/format.ts"
import type { Drive } from "./driving.ts"
import type { SessionFlags, settingsChange } from "./flags.ts"

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

export interface ContinuedSession {
  readonly goal: string
  readonly flags: SessionFlags
  readonly change: ReturnType<typeof settingsChange>
  readonly context: CliContext
}

/** Returns how to add a request to the latest agent session. It may change files, whatever that session was for. */
export async function continueLatest(
  app: AppService,
  { goal, flags, change, context }: ContinuedSession,
): Promise<Drive> {
  const latest = (await app.sessions())?.list({ lane: "agent", limit: 1 })[0]
  if (latest === undefined)
    throw new Failure({
      kind: "usage",
      code: "ACODE-CLI-004",
      message: "there is no session to continue in this workspace",
      hint: "start one without --continue",
    })
  const state = await agentStateOf(app, latest.id)
  const changed: typeof change = settings => {
    const { asksOnly: _, ...others } = change(settings)
    return others
  }
  const said = { model: flags.model !== undefined, mode: flags.mode !== undefined }
  const { values } = await app.config()
  return {
    flags,
    yes: changed(state.settings).yes,
    seen: context.globals.json ? [] : await app.sessionEvents(latest.id),
    prices: values.model.prices,
    begin: surface =>
      app.resume(latest.id, { change: changed, skipsFailed: false, adds: goal, said }, surface),
  }
}
