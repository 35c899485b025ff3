import { describe, expect, test } from "bun:test"
import { shellArguments, shellPath } from "../../src/exec/readiness.ts"

function output(script: string, args: readonly string[]): string {
  return Bun.spawnSync([shellPath, ...shellArguments(script, args)]).stdout.toString()
}

describe("a command that asked for a shell", () => {
  test("is a script", () => {
    expect(output("echo a | tr a b; echo $((1 + 2))", [])).toBe("b\n3\n")
  })

  test("gets its arguments as parameters, which are never read as script", () => {
    expect(output('echo "$#:$1:$2"', ["$(echo injected)", "; exit 9"])).toBe("2:$(echo injected):; exit 9\n")
  })

  test("is called by the name of the shell, so that its complaints make sense", () => {
    expect(output("echo $0", ["x"])).toBe("sh\n")
  })
})
