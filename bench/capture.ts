import { command } from "../src/domain/command-validation.ts"
import { bareDrain } from "./floors.ts"
import { interleaved } from "./measure.ts"
import { openProduct } from "./product.ts"
import { type Figure, timesFloor } from "./report.ts"

const bytes = 100_000_000

/** 100 MB of output whose head and tail are kept, against draining and hashing it and keeping nothing. */
export async function captureFigures(): Promise<Figure[]> {
  using product = openProduct()
  const runner = await product.wiring.unrecordedRunner()
  const argv = ["/usr/bin/head", "-c", String(bytes), "/dev/zero"]
  const [program = "", ...args] = argv
  const loud = command(program)
    .withArguments(...args)
    .build()
  const [drained, captured] = await interleaved(10, [
    () => bareDrain(argv),
    async () => {
      const { result } = await runner.execute(loud, { sandbox: "none", outputBytesMax: 65_536 })
      if (result.truncation?.stdout?.originalBytes !== bytes)
        throw new Error("not all of the output was counted")
    },
  ])
  if (drained === undefined || captured === undefined) throw new Error("nothing measured")
  return [timesFloor("capture of 100 MB", captured.p50, drained.p50, 1.5)]
}
