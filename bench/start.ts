import { tempWorkspace } from "../test/support/workspace/temp-workspace.ts"
import { compiledHello } from "./floors.ts"
import { interleaved } from "./measure.ts"
import { builtProgram } from "./product.ts"
import { type Figure, timesFloor } from "./report.ts"

/** The compiled program from nothing to its end, against a compiled program that only says hello. */
export async function startFigures(): Promise<Figure[]> {
  using hello = compiledHello()
  using workspace = tempWorkspace()
  const started = (argv: readonly string[], expected: number) => async () => {
    const child = Bun.spawn([...argv], {
      cwd: workspace.root,
      env: { ...workspace.environment },
      stdin: "ignore",
      stdout: "ignore",
      stderr: "ignore",
    })
    if ((await child.exited) !== expected) throw new Error(`${argv.join(" ")} exits ${child.exitCode}`)
  }
  const [floor, version, exec] = await interleaved(30, [
    started([hello.path], 0),
    started([builtProgram, "--version"], 0),
    started([builtProgram, "exec", "--sandbox", "none", "--", "/bin/true"], 0),
  ])
  if (floor === undefined || version === undefined || exec === undefined)
    throw new Error("nothing was measured")
  return [
    timesFloor("acode --version, compiled", version.p50, floor.p50, 3),
    timesFloor("acode exec -- true, compiled, no sandbox", exec.p50, floor.p50, 8),
  ]
}
