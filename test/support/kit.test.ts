import { expect, test } from "bun:test"
import { existsSync } from "node:fs"
import { join } from "node:path"
import { inParallel } from "../soak/programme.ts"
import { crashes } from "./crash/crash.ts"
import { eventually } from "./eventually.ts"
import { countingIds, fixedClock } from "./fixed-clock.ts"
import { processesWith, taggedProcesses, untilNoProcessWith } from "./processes.ts"
import { missingProgram, testWhere } from "./requirement.ts"
import { openTerminal } from "./terminal/terminal.ts"
import { tempWorkspace } from "./workspace/temp-workspace.ts"

test("a workspace has its own state directories, holds what was asked for, and is gone afterwards", () => {
  let outside = ""
  {
    using workspace = tempWorkspace({ git: true, files: { "deep/file.txt": "content" } })
    outside = workspace.outside
    expect(existsSync(join(workspace.root, ".git"))).toBe(true)
    expect(existsSync(join(workspace.root, "deep/file.txt"))).toBe(true)
    expect(workspace.dataHome.startsWith(workspace.root)).toBe(false)
    expect(workspace.environment["XDG_DATA_HOME"]).toBe(workspace.dataHome)
  }
  expect(existsSync(outside)).toBe(false)
})

test("a fixed clock moves only when a test moves it, and ids count upwards", () => {
  const clock = fixedClock(1_000_000)
  clock.advance(5)
  clock.jump(-3_600_000)
  expect([clock.now(), clock.monotonicMs()]).toEqual([1_000_005 - 3_600_000, 1_005])
  const ids = countingIds()
  const [first, second] = [ids.next("exe"), ids.next("exe")]
  expect(first < second).toBe(true)
})

test("waiting gives the value, or names what never came", async () => {
  let tries = 0
  expect(await eventually("three tries", () => (++tries >= 3 ? tries : null))).toBe(3)
  const never = eventually("the impossible", () => null, { timeoutMs: 20, everyMs: 5 })
  await expect(never).rejects.toThrow(/the impossible/)
})

test("a process is found by its tag and by its marker until it is dead", async () => {
  const marker = `3${Math.trunc(performance.timeOrigin)}.25`
  const child = Bun.spawn(["sleep", marker], { env: { ACODE_EXECUTION_ID: `exe_${marker}` } })
  await eventually("it has started", () => processesWith(marker).length === 1)
  expect(taggedProcesses(`exe_${marker}`).map(found => found.pid)).toEqual([child.pid])
  child.kill("SIGKILL")
  await untilNoProcessWith(marker)
  expect(taggedProcesses(`exe_${marker}`)).toEqual([])
})

test("crashing continues point by point until a run survives", async () => {
  const script =
    'process.exitCode = 7; if (Number(process.env["ACODE_FAILPOINT"]) < 3) process.kill(process.pid, "SIGKILL")'
  const seen: unknown[] = []
  const runs = crashes(async failpoint => {
    const child = Bun.spawn([process.execPath, "-e", script], { env: failpoint })
    await child.exited
    return { exitCode: child.exitCode, signal: String(child.signalCode), stdout: "", stderr: "" }
  })
  for await (const { point, crashed } of runs) seen.push([point, crashed])
  expect(seen).toEqual([
    [1, true],
    [2, true],
    [3, false],
  ])
})

testWhere(missingProgram("tmux"))(
  "a terminal shows the program, takes keys and knows its status",
  async () => {
    using workspace = tempWorkspace()
    using terminal = openTerminal({
      argv: [
        "sh",
        "-c",
        'test -t 0 && printf "size %s\\nname? " "$(stty size)"; read name; echo "hello $name"; exit 3',
      ],
      cwd: workspace.root,
      env: workspace.environment,
      columns: 72,
      rows: 17,
    })
    expect(await terminal.see(/name\?/)).toContain("size 17 72")
    terminal.type("a 'quoted' name; -x")
    terminal.press("Enter")
    await terminal.see("hello a 'quoted' name; -x")
    expect(await terminal.exitStatus()).toBe(3)
  },
)

test("a soak programme reports what could not be completed, and does the rest", async () => {
  const found = await inParallel(4, 2, index =>
    index === 1 ? Promise.reject(new Error("too slow")) : Promise.resolve([`did ${index}`]),
  )
  expect(found.toSorted()).toEqual(["#1 was not completed: too slow", "did 0", "did 2", "did 3"])
})
