import { afterAll, describe, expect } from "bun:test"
import { processesWith } from "../../support/processes.ts"
import { confinedKind, missingSandbox, testWhere } from "../../support/requirement.ts"
import { testRunner } from "../support/test-runner.ts"

const runner = testRunner({ sandbox: confinedKind })
afterAll(() => runner[Symbol.dispose]())

const confinedTest = testWhere(missingSandbox)

describe("a confined command", () => {
  confinedTest("ends with its own code and output", async () => {
    const { result } = await runner.sh("echo out; echo err > /dev/stderr; exit 3")
    expect(result).toMatchObject({
      ending: "exited",
      exitCode: 3,
      stdout: "out\n",
      stderr: "err\n",
      error: null,
      sandbox: { kind: confinedKind, network: "none", quarantined: [] },
    })
  })

  confinedTest("that dies by a signal is told as such", async () => {
    for (const name of ["KILL", "SEGV", "TERM", "ABRT"])
      expect((await runner.sh(`ulimit -c 0; kill -${name} $$`)).result).toMatchObject({
        ending: "signalled",
        exitCode: null,
        signal: `SIG${name}`,
        error: { code: "ACODE-EXE-003" },
      })
  })

  confinedTest("that takes too long leaves nothing, however it hid", async () => {
    const seconds = `61.9${process.pid}`
    const script = `setsid sh -c 'setsid sleep ${seconds} &' & trap '' TERM; echo up; while :; do sleep 0.01; done`
    const { result } = await runner.sh(script, { timeoutMs: 1000 })
    expect(result).toMatchObject({ ending: "timedOut", stdout: "up\n", error: { code: "ACODE-EXE-002" } })
    expect(processesWith(seconds)).toEqual([])
  })

  confinedTest("that leaves a daemon which holds its output open is over when it is over", async () => {
    const seconds = `61.6${process.pid}`
    const { result } = await runner.sh(`setsid sleep ${seconds} & echo done`)
    expect(result).toMatchObject({ ending: "exited", exitCode: 0, stdout: "done\n" })
    expect(processesWith(seconds)).toEqual([])
  })

  confinedTest("prints 20 MB like any other", async () => {
    const { result } = await runner.sh("head -c 20000000 /dev/zero | tr '\\0' x")
    expect(result.truncation?.stdout?.originalBytes).toBe(20_000_000)
  })

  confinedTest("that is not found or not executable never starts", async () => {
    runner.workspace.write("plain", "")
    expect((await runner.run(["no-such-program-anywhere"])).result.error?.code).toBe("ACODE-EXE-001")
    expect((await runner.run(["./plain"])).result.error?.code).toBe("ACODE-EXE-005")
  })

  confinedTest("is measured as a tree", async () => {
    const { usage } = (await runner.sh("i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done")).result
    expect(usage.cpuMs).toBeGreaterThan(5)
  })

  confinedTest("writes to the workspace and to no protected name", async () => {
    const { result } = await runner.sh(
      "echo x > made && cat made; mkdir -p .git/hooks; echo x > .git/hooks/post-commit",
    )
    expect(result.stdout).toBe("x\n")
    expect(result.exitCode).not.toBe(0)
  })
})
