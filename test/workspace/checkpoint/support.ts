import { existsSync, readdirSync, statSync } from "node:fs"
import { join } from "node:path"
import { type Clock, systemClock } from "../../../src/base/clock.ts"
import { type Faults, noFaults } from "../../../src/base/faults.ts"
import type { Checkpoint, TakeResult } from "../../../src/workspace/checkpoint/contract.ts"
import { restoreCheckpoint } from "../../../src/workspace/checkpoint/restore.ts"
import { CheckpointStore } from "../../../src/workspace/checkpoint/store.ts"
import type { Tree } from "../../../src/workspace/contract.ts"
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
  restore(
    checkpoint: Checkpoint,
    expected?: ReadonlyMap<string, string | null>,
  ): ReturnType<typeof restoreCheckpoint>
  contentNames(): string[]
}

export function checkpointBench(
  limits = roomy,
  clock: Clock = systemClock,
  faults: Faults = noFaults,
): CheckpointBench {
  const ws = testWorkspace()
  const directory = ws.path(".agent/checkpoints")
  const store = new CheckpointStore(directory, limits, clock, faults)
  const { fileBytesMax } = limits
  const scope = { isProtected: () => false, ownOutputs: new Set<string>(), fileBytesMax }
  const tree = () => new TreeReader(ws.root, scope, new StatCache(), systemClock).read()
  return {
    ...ws,
    directory,
    store,
    tree,
    take: async id => taken(await store.takeTree(id, ws.root, await tree())),
    restore: (checkpoint, expected) =>
      restoreCheckpoint(
        {
          ...{ root: ws.root, checkpoint, contents: store.contents, readTree: tree },
          expected: expected ?? null,
          owned: work => work(),
          pace: new Pace(systemClock),
          fileBytesMax,
        },
        noFaults,
      ),
    contentNames: () => filesBelow(join(directory, "contents")),
  }
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
