import { existsSync, readdirSync, statSync } from "node:fs"
import { join } from "node:path"
import { type Clock, systemClock } from "../../../src/base/clock.ts"
import { type Faults, noFaults } from "../../../src/base/faults.ts"
import type {
  Checkpoint,
  Restored,
  RestoreGoal,
  TakeResult,
} from "../../../src/workspace/checkpoint/contract.ts"
import { contentsSince, directoriesSince } from "../../../src/workspace/checkpoint/manifest.ts"
import { contentOfPresentEntry, presentEntryAt } from "../../../src/workspace/checkpoint/present-entry.ts"
import { type RestoreSource, restoreCheckpoints } from "../../../src/workspace/checkpoint/restore.ts"
import { CheckpointStore } from "../../../src/workspace/checkpoint/store.ts"
import type { Tree, TreeOptions } from "../../../src/workspace/contract.ts"
import { Pace } from "../../../src/workspace/pace.ts"
import { TreeReader } from "../../../src/workspace/tree/reader.ts"
import { StatCache } from "../../../src/workspace/tree/stat-cache.ts"
import { type TestWorkspace, testWorkspace } from "../support.ts"

export const roomy = { fileBytesMax: 1_000_000, totalBytesMax: 10_000_000 }

/** A workspace with checkpoints beside it. */
export interface CheckpointBench extends TestWorkspace {
  readonly directory: string
  readonly store: CheckpointStore
  tree(): Promise<Tree>
  take(id: string): Promise<Checkpoint>
  readonly source: RestoreSource
  /** Everything that differs from a checkpoint now, as what restoring may replace. */
  goal(checkpoint: Checkpoint): Promise<RestoreGoal>
  restore(checkpoint: Checkpoint, expected?: ReadonlyMap<string, string | null>): Promise<Restored>
  /** Restores with a kept checkpoint of this id. */
  restoreGoal(goal: RestoreGoal, id: string, faults?: Faults): Promise<Restored>
  contentNames(): string[]
}

export function checkpointBench(
  limits = roomy,
  clock: Clock = systemClock,
  faults: Faults = noFaults,
  elsewhere: string | null = null,
): CheckpointBench {
  const ws = testWorkspace()
  const directory = elsewhere ?? ws.path(".agent/checkpoints")
  const store = new CheckpointStore(directory, limits, clock, faults)
  const { fileBytesMax } = limits
  const scope = { isProtected: () => false, ownOutputs: new Set<string>(), fileBytesMax }
  const readTree = (options: TreeOptions) =>
    new TreeReader(ws.root, scope, new StatCache(), systemClock).read(undefined, options)
  const tree = () => readTree({})
  const source = { root: ws.root, store, clock, readTree, pace: new Pace(systemClock) }
  const restoreGoal = (goal: RestoreGoal, id: string, dying: Faults = noFaults) =>
    restoreCheckpoints(source, [goal], { id, about: undoing }, work => work(), dying)
  const goal = async (checkpoint: Checkpoint): Promise<RestoreGoal> => {
    if (checkpoint.scope === "files") return { checkpoint, expected: foundAt(ws, checkpoint) }
    const now = await tree()
    return {
      checkpoint,
      expected: contentsSince(checkpoint, now),
      directories: directoriesSince(checkpoint.directories, now.directories),
    }
  }
  let restores = 0
  return {
    ...ws,
    directory,
    store,
    tree,
    source,
    goal,
    restoreGoal,
    take: async id => taken(await store.takeTree(id, ws.root, await tree())),
    restore: async (checkpoint, expected) => {
      const wanted = expected === undefined ? await goal(checkpoint) : { checkpoint, expected }
      return restoreGoal(wanted, `chk_${++restores}`)
    },
    contentNames: () => filesBelow(join(directory, "contents")),
  }
}

const undoing = { kind: "undo" as const, sessionId: "ses_1", subjectId: null }

function foundAt({ root }: TestWorkspace, { entries, absent }: Checkpoint): Map<string, string | null> {
  const content = (path: string) =>
    contentOfPresentEntry(presentEntryAt(root, path, roomy.fileBytesMax)) ?? null
  return new Map([...entries.keys(), ...absent].map(path => [path, content(path)]))
}

export function taken({ checkpoint }: TakeResult): Checkpoint {
  return checkpoint
}

export function filesBelow(directory: string): string[] {
  if (!existsSync(directory)) return []
  return readdirSync(directory, { recursive: true, encoding: "utf8" })
    .filter(path => statSync(join(directory, path)).isFile())
    .sort()
}
