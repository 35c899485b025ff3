import { afterEach, beforeEach, describe, expect, test } from "bun:test"
import { readdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { check } from "../support/checker/checker.ts"
import { crashes } from "../support/crash/crash.ts"
import { planText } from "../support/plan/plan-workspace.ts"
import { type SavedWorkspace, savedWorkspace } from "../support/workspace/saved-workspace.ts"

let saved: SavedWorkspace
beforeEach(async () => {
  saved = savedWorkspace()
  saved.workspace.write("a.txt", "0")
  for (const content of ["1", "2", "3"]) await session(content)
  saved.save("sessions")
})
afterEach(() => saved[Symbol.dispose]())

const plan = () => join(saved.workspace.outside, "plan.json")

async function session(content: string): Promise<void> {
  writeFileSync(plan(), planText([["write_file", { path: "a.txt", content }]], "p"))
  expect((await saved.acode(["plan", "approve", plan()])).exitCode).toBe(0)
  expect((await saved.acode(["plan", "run", plan()])).exitCode).toBe(0)
}

async function sessions(): Promise<readonly string[]> {
  const { stdout } = await saved.acode(["session", "list", "--json"])
  return (JSON.parse(stdout) as readonly { readonly id: string }[]).map(({ id }) => id)
}

/** Dies at each point in turn; each time a second run completes it, and what stays is whole. */
async function completedAfterEachCrash(args: readonly string[], stays: readonly string[]): Promise<number> {
  let last = 0
  const from = (failpoint: Readonly<Record<string, string>>) => {
    saved.restore("sessions")
    return saved.acode(args, failpoint)
  }
  for await (const { point, crashed } of crashes(from)) {
    last = point
    expect([point, await check(saved.workspace)]).toEqual([point, []])
    if (crashed) await saved.acode(args)
    expect([point, await sessions()]).toEqual([point, stays])
    const kept = readdirSync(saved.workspace.state("checkpoints/manifests"))
    expect([point, kept.length]).toEqual([point, stays.length])
    expect([point, (await saved.acode(["audit", "verify"])).exitCode]).toEqual([point, 0])
  }
  return last
}

describe("kill -9 at every numbered point", () => {
  test("of session prune: a second one completes it, and the session that stays can be undone", async () => {
    const [newest = ""] = await sessions()
    const args = ["session", "prune", "--older-than", "0s", "--force", "--keep", "1"]
    expect(await completedAfterEachCrash(args, [newest])).toBeGreaterThan(5)
    // The copy of the workspace has other inodes, so that undo would ask.
    expect((await saved.acode(["session", "undo", newest, "--also", "a.txt"])).exitCode).toBe(0)
    expect(readFileSync(join(saved.workspace.root, "a.txt"), "utf8")).toBe("2")
  }, 600_000)

  test("of storage free: a second one completes it, and what is left verifies", async () => {
    expect(await completedAfterEachCrash(["storage", "free", "--to", "0"], [])).toBeGreaterThan(5)
  }, 600_000)
})
