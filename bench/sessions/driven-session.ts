import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { type AgentEnd, agentVerbs } from "../../src/app/verbs/agent.ts"
import { plainSettings } from "../../src/domain/pipeline-settings.ts"
import type { StoredEvent } from "../../src/store/contract.ts"
import type { ReplyText } from "../../test/support/agent/agent-workspace.ts"
import { quietSurface } from "../../test/support/crash/golden-points.ts"
import { defaultLimits } from "../../test/support/pipeline/default-limits.ts"
import { open, reply } from "../../test/support/script-replies.ts"
import type { Product } from "../product.ts"

export interface Timed {
  readonly event: StoredEvent
  readonly atMs: number
  /** The time after what was measured in between, which is not the session's. */
  readonly goesOnMs: number
}

/** Floors are measured between the calls of the very session they stand for: a disk is not the same a second later. */
export async function driven(
  product: Product,
  /** The replies of a scripted model; null asks the configured server. */
  replies: readonly ReplyText[] | null,
  between: () => void = () => undefined,
) {
  const script = join(product.workspace.outside, "script.json")
  writeFileSync(script, JSON.stringify({ replies }))
  const seen: Timed[] = []
  const surface = quietSurface(script, event => {
    const atMs = performance.now()
    if (event.type === "tool_call.settled") between()
    seen.push({ event, atMs, goesOnMs: performance.now() })
  })
  const limits = { ...defaultLimits, cyclesMax: 10, turnsMax: 1_000 }
  const began = performance.now()
  const end: AgentEnd = await agentVerbs(product.wiring).run(
    "measure",
    { ...plainSettings, limits },
    { ...surface, acceptsPlans: true, ...(replies === null ? { model: {} } : {}) },
  )
  return { end, seen, tookMs: performance.now() - began, script }
}

/** Times from one event to another right after it, in sessions without anything else in between. */
export function spans(seen: readonly Timed[], from: string, to: string): number[] {
  let beganMs: number | null = null
  return seen.flatMap(({ event: { type }, atMs, goesOnMs }) => {
    const span = type === to && beganMs !== null ? [atMs - beganMs] : []
    if (type === from) beganMs = goesOnMs
    else if (type === to || ends.has(type)) beganMs = null
    return span
  })
}

/** The events that end a span without belonging to it. */
const ends: ReadonlySet<string> = new Set(["step.finished", "step.started"])

const turnSteps = 40
export const turnsPerStep = 8

/** A session of so many steps, each of which makes a call in each of its turns. */
export function turning(
  call: (index: number) => Parameters<typeof reply.calls>[number],
  steps = turnSteps,
): readonly ReplyText[] {
  const ids = Array.from({ length: steps }, (_, index) => `s${index}`)
  return [
    reply.plan({ write: ["out/**"], steps: ids.map(id => open(id, "GENERATE_CODE")) }),
    ...ids.flatMap((_, step) => [
      ...Array.from({ length: turnsPerStep }, (__, turn) => reply.calls(call(step * turnsPerStep + turn))),
      reply.write("out/last.txt", `${step}\n`),
      reply.finish(),
    ]),
    reply.review("approve"),
  ]
}
