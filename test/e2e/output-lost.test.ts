import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { acodeProgram, runAcode } from "../support/acode.ts"
import { type TempWorkspace, tempWorkspace } from "../support/temp-workspace.ts"

let workspace: TempWorkspace

beforeAll(() => {
  workspace = tempWorkspace({ git: true })
})
afterAll(() => workspace[Symbol.dispose]())

/** Runs it with its standard output on a disk that is full. */
function onFullDisk(...args: string[]): { exitCode: number; stderr: string } {
  const run = Bun.spawnSync(["sh", "-c", '"$0" "$@" > /dev/full', acodeProgram(), ...args], {
    cwd: workspace.root,
    env: { ...workspace.environment },
  })
  return { exitCode: run.exitCode, stderr: run.stderr.toString() }
}

const told = (stderr: string) => stderr.match(/^error \S+: .+$/gm) ?? []
const lost = [expect.stringMatching(/^error ACODE-CLI-007: the output cannot be written: ENOSPC/)]

describe("a command whose output cannot be passed on", () => {
  for (const line of [
    ["echo", "x"],
    ["seq", "1000000"],
  ])
    test(`${line.join(" ")} is recorded, and acode says that its output is lost`, async () => {
      const { exitCode, stderr } = onFullDisk("exec", "--", ...line)
      expect({ exitCode, told: told(stderr) }).toEqual({ exitCode: 125, told: lost })
      const { stdout } = await runAcode(["runs", "list", "--json"], {
        cwd: workspace.root,
        env: workspace.environment,
      })
      expect(JSON.parse(stdout)[0]).toMatchObject({ commandLine: line.join(" ") })
    })
})
