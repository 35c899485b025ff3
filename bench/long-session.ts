import { readFileSync } from "node:fs"
import { join } from "node:path"
import { agentVerbs } from "../src/app/agent-verbs.ts"
import { Wiring } from "../src/app/wire.ts"
import { repositoryRoot } from "../test/support/acode.ts"
import { quietSurface } from "../test/support/golden-points.ts"
import { longSession } from "../test/support/long-session.ts"
import { driven, spans } from "./driven-session.ts"
import { durableCommits } from "./floors.ts"
import { timingOf } from "./measure.ts"
import { openProduct, type Product } from "./product.ts"
import { atMost, type Figure, timesFloor } from "./report.ts"

/** What a session costs when it has become long, and what going on with it takes. */
export async function longSessionFigures(): Promise<Figure[]> {
  using product = openProduct()
  using floor = durableCommits(product.workspace.outside)
  const commits: number[] = []
  const noteCommit = () => {
    const began = performance.now()
    floor.commit()
    commits.push(performance.now() - began)
  }
  // The review is left out: without a reply the session rests and can be taken up again.
  const replies = longSession(100, 32, 1).slice(0, -1)
  const { seen, script, end } = await driven(product, replies, noteCommit)
  const settled = spans(seen, "tool_call.settled", "tool_call.settled")
  // Against what the disk did at the same time: over half a minute it changes more than a session may.
  const early = timingOf(settled.slice(100, 900)).p50 / timingOf(commits.slice(100, 900)).p50
  const late = timingOf(settled.slice(-800)).p50 / timingOf(commits.slice(-800)).p50
  const readyMs = timingOf(await readyTimes(product, end.sessionId, script)).p50
  return [
    timesFloor(
      `call ${settled.length} of a session against its first ones, in commits`,
      late,
      early,
      1.2,
      "commits",
    ),
    atMost(`resume of a session with ${seen.length} events, to ready`, readyMs, 300),
    atMost(
      "memory of a process that resumes it, compiled",
      await peakMb(product, end.sessionId, script),
      100,
      "MB",
    ),
  ]
}

/** As the system counts it. What a parent is told about its child is never less than what the parent itself has. */
async function peakMb({ workspace }: Product, sessionId: string, script: string): Promise<number> {
  const program = join(repositoryRoot, "dist", "acode")
  const child = Bun.spawn([program, "resume", sessionId, "--script", script, "--json"], {
    cwd: workspace.root,
    env: { ...workspace.environment },
    stdout: "ignore",
    stderr: "ignore",
  })
  let peakKb = 0
  while (child.exitCode === null) {
    peakKb = Math.max(peakKb, highWaterKb(child.pid))
    await Bun.sleep(1)
  }
  return (peakKb * 1024) / 1e6
}

function highWaterKb(pid: number): number {
  try {
    return Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? 0)
  } catch {
    // It has ended meanwhile; what was seen before counts.
    return 0
  }
}

/** From nothing to the event that says it goes on; then it is paused again. */
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
