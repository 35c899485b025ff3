import { command } from "../src/domain/command-validation.ts"
import { bareSpawn, durableCommits } from "./floors.ts"
import { interleaved } from "./measure.ts"
import { openProduct } from "./product.ts"
import type { Figure } from "./report.ts"

/** Measures the overhead of acode for a process that is started, reaped, and recorded before and after. */
export async function runnerFigures(): Promise<Figure[]> {
  using product = openProduct()
  using floor = durableCommits(product.workspace.outside)
  const runner = await product.wiring.runner()
  const nothing = command("/bin/true").build()
  const [spawned, committed, executed] = await interleaved(150, [
    () => bareSpawn(),
    () => {
      floor.commit()
      floor.commit()
    },
    async () => void (await runner.execute(nothing, { sandbox: "none" })),
  ])
  if (spawned === undefined || committed === undefined || executed === undefined)
    throw new Error("nothing measured")
  const least = spawned.p50 + committed.p50
  const overhead = executed.p50 - least
  return [
    {
      name: "runner overhead over a spawn and two commits",
      measured: overhead,
      unit: "ms",
      floor: least,
      ratio: executed.p50 / least,
      bar: "≤ 2 ms",
      ok: overhead <= 2,
    },
  ]
}
