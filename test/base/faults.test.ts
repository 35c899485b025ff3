import { describe, expect, test } from "bun:test"
import { resolve } from "node:path"
import { noFaults } from "../../src/base/faults.ts"
import { recordPoints } from "../support/crash/record-points.ts"

const faultsModule = resolve(import.meta.dir, "../../src/base/faults.ts")

/** Reaches three points in a process of its own and says which ones it survived. */
function reachThree(count: number) {
  const script = `
    const { killAt } = await import(${JSON.stringify(faultsModule)})
    const faults = killAt(${count})
    for (const point of ["one", "two", "three"]) {
      faults.reach(point)
      require("node:fs").writeSync(1, point + " ")
    }`
  const { stdout, signalCode, exitCode } = Bun.spawnSync([process.execPath, "-e", script], {
    stderr: "inherit",
  })
  return { survived: stdout.toString().trim().split(" ").filter(Boolean), signalCode, exitCode }
}

describe("a numbered place where a crash is interesting", () => {
  test("is passed by in production", () => {
    expect(() => noFaults.reach("anywhere")).not.toThrow()
  })

  test("is remembered by name and in order", () => {
    const points: string[] = []
    const faults = recordPoints(points)
    faults.reach("before")
    faults.reach("after")
    faults.reach("before")
    expect(points).toEqual(["before", "after", "before"])
  })

  test("ends the process there as kill -9 would, with nothing after it", () => {
    expect(reachThree(2)).toMatchObject({ survived: ["one"], signalCode: "SIGKILL" })
    expect(reachThree(1)).toMatchObject({ survived: [], signalCode: "SIGKILL" })
  })

  test("that is never reached ends nothing", () => {
    expect(reachThree(4)).toMatchObject({ survived: ["one", "two", "three"], exitCode: 0 })
  })
})
