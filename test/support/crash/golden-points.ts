import { agentVerbs } from "../../../src/app/verbs/agent.ts"
import type { AgentSurface } from "../../../src/app/wiring/agent-surface.ts"
import { Wiring } from "../../../src/app/wiring/wire.ts"
import type { Faults } from "../../../src/base/faults.ts"
import { readEnvironment } from "../../../src/config/environment.ts"
import { plainSettings } from "../../../src/domain/pipeline-settings.ts"
import type { StoredEvent } from "../../../src/store/contract.ts"
import { defaultLimits } from "../pipeline/default-limits.ts"
import { sessionRows } from "../plan/plan-report.ts"
import { type CrashPoint, type GoldenRoom, type Leg, legs } from "./golden-crash.ts"
import { goldenScript } from "./golden-session.ts"
import { recordPoints } from "./record-points.ts"

/** A point, and the moves that it lies right behind: committed, and nothing done about them yet. */
export interface NamedPoint extends CrashPoint {
  readonly name: string
  readonly moves: readonly string[]
}

/** Every point of the session in order, as a process that dies at none of them meets them. */
export async function goldenPoints(room: GoldenRoom): Promise<readonly NamedPoint[]> {
  const found: NamedPoint[] = []
  for (const leg of legs) found.push(...(await pointsOf(room, leg)))
  return found
}

/**
 * One point of each name, one behind each move. The last leg first: it is short, so what is there to be met is met in
 * the least time.
 */
export function spread(points: readonly NamedPoint[]): readonly NamedPoint[] {
  const order: readonly Leg[] = ["changed", "begun", "planned"]
  const sorted = order.flatMap(leg => points.filter(point => point.leg === leg))
  const moves = [...new Set(points.flatMap(point => point.moves))]
  return [
    ...new Set([
      ...moves.flatMap(move => sorted.find(point => point.moves.includes(move)) ?? []),
      ...new Map(sorted.toReversed().map(point => [point.name, point])).values(),
    ]),
  ]
}

async function pointsOf(room: GoldenRoom, leg: Leg): Promise<readonly NamedPoint[]> {
  await room.restore(leg)
  const { workspace } = room.saved
  const names: string[] = []
  const moves = new Map<number, string[]>()
  using wiring = new RecordingWiring(
    {
      environment: readEnvironment(workspace.environment),
      workspace: workspace.root,
      configFile: undefined,
    },
    names,
  )
  const surface = quietSurface(goldenScript(workspace), event => {
    if (event.type !== "stage.transitioned") return
    const { from, to } = event.data as { readonly from: string; readonly to: string }
    moves.set(names.length, [...(moves.get(names.length) ?? []), `${from}→${to}`])
  })
  const verbs = agentVerbs(wiring)
  const [session] = sessionRows(workspace)
  await (session === undefined
    ? verbs.run("everything", settings, surface)
    : verbs.resume(session.stream, { change: same => same, skipsFailed: false }, surface))
  return names.map((name, index) => ({ leg, point: index + 1, name, moves: moves.get(index + 1) ?? [] }))
}

/** The product as it is wired, but for the points, which are written down. */
class RecordingWiring extends Wiring {
  override readonly faults: Faults

  constructor(request: ConstructorParameters<typeof Wiring>[0], names: string[]) {
    super(request)
    this.faults = recordPoints(names)
  }
}

/** Returns a surface without a person: nothing is answered, and nothing is shown. */
export function quietSurface(script: string, onEvent: (event: StoredEvent) => void): AgentSurface {
  return {
    model: { script },
    isInteractive: false,
    acceptsPlans: false,
    prompt: () => Promise.reject(new Error("no question was expected")),
    notice: () => undefined,
    onEvent,
    onText: () => undefined,
    stopping: { drain: new AbortController().signal, stop: new AbortController().signal },
    waits: false,
  }
}

const settings = { ...plainSettings, limits: defaultLimits }
