import { join } from "node:path"
import { agentVerbs } from "../../src/app/verbs/agent.ts"
import { Wiring } from "../../src/app/wiring/wire.ts"
import { repositoryRoot } from "../../test/support/acode.ts"
import { quietSurface } from "../../test/support/crash/golden-points.ts"
import { longSession } from "../../test/support/crash/long-session.ts"
import { timingOf } from "../measure.ts"
import { peakMb } from "../peak-memory.ts"
import { openProduct, type Product } from "../product.ts"
import { atMost, type Figure, timesFloor } from "../report.ts"
import { driven, spans } from "./driven-session.ts"

/** Measures a long session, and resuming it. */
export async function longSessionFigures(): Promise<Figure[]> {
  using product = openProduct()
  // The review is left out: without a reply the session rests and can be taken up again.
  const replies = longSession(100, 32, 1).slice(0, -1)
  const { seen, script, end } = await driven(product, replies)
  const settled = spans(seen, "tool_call.settled", "tool_call.settled")
  // Calls write and read by turns, so that two of them are what is alike; the first ones are still getting faster.
  const pairs = settled.slice(1).map((ms, index) => ms + (settled[index] ?? 0))
  const early = timingOf(pairs.slice(300, 1_000)).p50
  const late = timingOf(pairs.slice(-700)).p50
  const readyMs = timingOf(await readyTimes(product, end.sessionId, script)).p50
  const program = join(repositoryRoot, "dist", "acode")
  const argv = [program, "resume", end.sessionId, "--script", script, "--json"]
  // A program that has been started before knows its configuration.
  await peakMb([program, "status"], product.workspace)
  return [
    timesFloor(`two calls, ${settled.length} into a session against the first of it`, late, early, 1.2),
    atMost(`resume of a session with ${seen.length} events, to ready`, readyMs, 300),
    atMost("memory of a process that resumes it, compiled", await peakMb(argv, product.workspace), 100, "MB"),
  ]
}

/** Measures the time from the start to the event that the session continues; then pauses it again. */
async function readyTimes(product: Product, sessionId: string, script: string): Promise<readonly number[]> {
  const samples: number[] = []
  for (let run = 0; run < 5; run++) {
    const { environment, workspace, configFile } = product.wiring.request
    const began = performance.now()
    using wiring = new Wiring({ environment, workspace, configFile })
    const stopping = { drain: AbortSignal.abort(), stop: new AbortController().signal }
    const surface = quietSurface(script, ({ type }) => {
      if (type === "session.resumed") samples.push(performance.now() - began)
    })
    await agentVerbs(wiring).resume(
      sessionId,
      { change: same => same, skipsFailed: false },
      { ...surface, stopping },
    )
  }
  return samples
}
