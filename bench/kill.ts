import type { SandboxChoice } from "../src/domain/command.ts"
import { command } from "../src/domain/command-validation.ts"
import { eventually } from "../test/support/eventually.ts"
import { processesWith } from "../test/support/processes.ts"
import { confinedKind, missingSandbox } from "../test/support/requirement.ts"
import { timingOf } from "./measure.ts"
import { openProduct, type Product } from "./product.ts"
import { atMost, type Figure } from "./report.ts"

/** Measures the time from the request to end a tree of 50 processes until acode reports that none is left. */
export async function killFigures(): Promise<Figure[]> {
  using product = openProduct()
  const figures: Figure[] = []
  for (const sandbox of ["none", confinedKind] as const) {
    const missing = sandbox !== "none" ? missingSandbox : null
    if (missing !== null) process.stderr.write(`not measured: ${missing}\n`)
    else figures.push(await killFigure(product, sandbox))
  }
  return figures
}

async function killFigure({ wiring }: Product, sandbox: SandboxChoice): Promise<Figure> {
  const runner = await wiring.unrecordedRunner()
  const samples: number[] = []
  for (let run = 0; run < 30; run++) {
    const marker = `9${process.pid}${String(run).padStart(4, "0")}`
    // Deaf to a polite request, so that the figure is about killing and not about how long politeness lasts.
    const script = `trap '' TERM; for i in $(seq 49); do sleep ${marker} & done; wait`
    const tree = command("/bin/sh").withArguments("-c", script).build()
    const controller = new AbortController()
    const ended = runner.execute(tree, { sandbox }, { signal: controller.signal })
    await eventually("the tree has grown", () => processesWith(`sleep ${marker}`).length >= 49)
    const began = performance.now()
    controller.abort()
    await ended
    samples.push(performance.now() - began)
    const left = processesWith(marker).length
    if (left > 0) throw new Error(`${left} processes are left (${sandbox})`)
  }
  return atMost(`kill of a tree of 50 processes (${sandbox}), p99`, timingOf(samples).p99, 100)
}
