import { afterEach, beforeEach, describe, expect, test } from "bun:test"
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { runAcode } from "../../support/acode.ts"
import { check } from "../../support/checker/checker.ts"
import { type PlanWorkspace, planWorkspace } from "../../support/plan/plan-workspace.ts"
import { missingProgram, missingSandbox, testWhere } from "../../support/requirement.ts"

const gitTest = testWhere(missingProgram("git"))

const confinedTest = testWhere(missingSandbox)
const sh = (script: string) => ["run_command", { argv: ["sh", "-c", script] }] as const

let room: PlanWorkspace
beforeEach(() => {
  room = planWorkspace({
    git: true,
    files: {
      ".gitignore": "dist/\n*.local\n",
      "a.txt": "a\n",
      "sub/.gitignore": "!kept.local\n",
      "sub/kept.local": "kept\n",
      "dist/old.js": "old\n",
      "dist/deep/same.js": "same\n",
      "notes.local": "my notes\n",
    },
  })
})
afterEach(() => room[Symbol.dispose]())

const path = (name: string) => join(room.workspace.root, name)

/** What git itself says is there, ignored or not, with the content of each. */
function everything(): string {
  const { stdout } = Bun.spawnSync(
    [
      "sh",
      "-c",
      "find . -path ./.git -prune -o -path ./.agent -prune -o -type f -print | sort | xargs sha256sum",
    ],
    { cwd: room.workspace.root },
  )
  return stdout.toString()
}

const ignoredByGit = (name: string) =>
  Bun.spawnSync(["git", "check-ignore", "-q", name], { cwd: room.workspace.root }).exitCode === 0

async function uncovered(): Promise<readonly string[]> {
  const shown = JSON.parse((await room.acode("session", "show", "--json")).stdout)
  return shown.calls.flatMap((call: { uncovered: { paths: { path: string }[] } | null }) =>
    (call.uncovered?.paths ?? []).map(each => each.path),
  )
}

describe("what a command does to files that git ignores", () => {
  gitTest("is told, and undo does not say that all is back", async () => {
    room.plan([sh("rm dist/old.js; echo more >> notes.local; echo new > dist/deep/new.js; echo A > a.txt")])
    const { run } = await room.approveAndRun()
    expect([run.exitCode, run.stderr]).toEqual([
      0,
      expect.stringContaining("cannot restore dist/deep/new.js"),
    ])
    const changed = ["dist/deep/new.js", "dist/old.js", "notes.local"]
    expect(changed.filter(name => !ignoredByGit(name))).toEqual([])
    expect(await uncovered()).toEqual(changed)
    expect((await room.acode("session", "show")).stdout).toContain("not covered by undo: notes.local")
    const undone = await room.acode("session", "undo", "--commands", "--json")
    expect(undone.exitCode).not.toBe(0)
    expect(JSON.parse(undone.stdout)).toMatchObject({
      restored: ["a.txt"],
      blocked: changed.map(name => ({ path: name, reason: expect.stringContaining("git ignores it") })),
    })
    expect([readFileSync(path("a.txt"), "utf8"), existsSync(path("dist/deep/new.js"))]).toEqual(["a\n", true])
  })

  test("is nothing where it only reads them, and undo is complete", async () => {
    const before = everything()
    room.plan([sh("cat dist/old.js notes.local > /dev/null; ls -R dist; echo A > a.txt")])
    expect((await room.approveAndRun()).run.stderr).toBe("")
    expect(await uncovered()).toEqual([])
    expect((await room.acode("session", "undo", "--commands")).exitCode).toBe(0)
    expect(everything()).toBe(before)
  })

  test("is seen where a change keeps size and time of the file", async () => {
    room.plan([
      sh("touch -r notes.local /tmp/t; printf 'MY NOTES\\n' > notes.local; touch -r /tmp/t notes.local"),
    ])
    await room.approveAndRun()
    expect(await uncovered()).toEqual(["notes.local"])
  })

  test("is not known where there is too much of them, and that is said", async () => {
    const directory = join(room.workspace.configHome, "acode")
    mkdirSync(directory)
    const text = 'schema_version: "1"\ncheckpoints: { max_ignored_entries: 2 }\n'
    writeFileSync(join(directory, "config.yml"), text)
    room.plan([sh("echo changed > dist/deep/same.js")])
    await room.approveAndRun()
    const undone = await room.acode("session", "undo", "--commands", "--json")
    expect(undone.exitCode).not.toBe(0)
    expect(JSON.parse(undone.stdout)).toMatchObject({
      blocked: [{ path: "dist/", reason: expect.stringContaining("unknown") }],
    })
  })
})

describe("the rules that were in force before the command decide", () => {
  const hiding: readonly (readonly [string, string])[] = [
    ["adds a line to the ignore file", "echo '*.txt' >> .gitignore"],
    ["makes another ignore file", "mkdir -p made; echo '*' > made/.gitignore"],
    ["ignores everything", "echo '*' > .gitignore"],
    ["deletes the ignore files", "rm .gitignore sub/.gitignore"],
  ]
  test.each(hiding)("where it %s", async (_, script) => {
    const before = everything()
    room.plan([sh(`${script}; mkdir -p made; echo A > a.txt; echo n | tee new.txt > made/new.txt`)])
    await room.approveAndRun()
    expect(await uncovered()).toEqual([])
    const undone = await room.acode("session", "undo", "--commands")
    expect([undone.exitCode, undone.stdout]).toEqual([0, expect.not.stringContaining("left alone")])
    expect(everything()).toBe(before)
    expect(existsSync(path("made"))).toBe(false)
  })

  gitTest("where git forgets a file that it tracked although it is ignored", async () => {
    Bun.spawnSync(["git", "add", "-f", "notes.local"], { cwd: room.workspace.root })
    const before = everything()
    room.plan([sh("echo changed > notes.local; echo A > a.txt")])
    await room.approveAndRun()
    Bun.spawnSync(["git", "rm", "-q", "--cached", "notes.local"], { cwd: room.workspace.root })
    expect((await room.acode("session", "undo", "--commands")).exitCode).toBe(0)
    expect(everything()).toBe(before)
  })

  gitTest(
    "and a file that only the person's own git configuration ignores is covered like any other",
    async () => {
      writeFileSync(join(room.workspace.outside, "mine"), "*.mine\n")
      Bun.spawnSync(["git", "config", "core.excludesFile", join(room.workspace.outside, "mine")], {
        cwd: room.workspace.root,
      })
      room.workspace.write("x.mine", "x\n")
      expect(ignoredByGit("x.mine")).toBe(true)
      const before = everything()
      room.plan([sh("echo changed > x.mine")])
      await room.approveAndRun()
      expect((await room.acode("session", "undo", "--commands")).exitCode).toBe(0)
      expect(everything()).toBe(before)
    },
  )
})

confinedTest(
  "a crashed command that only touched ignored files is not said to have changed nothing",
  async () => {
    room.plan([sh("echo more >> notes.local; rm dist/old.js")])
    expect((await room.acode("plan", "approve", room.planFile)).exitCode).toBe(0)
    // Tries one point after the other until acode dies between the command and its outcome.
    const said: string[] = []
    for (let point = 1; said.length === 0 && point < 60; point++) {
      writeFileSync(path("notes.local"), "my notes\n")
      writeFileSync(path("dist/old.js"), "old\n")
      const env = { ...room.workspace.environment, ACODE_FAILPOINT: String(point) }
      const { signal } = await runAcode(["plan", "run", room.planFile], { cwd: room.workspace.root, env })
      if (signal === null || existsSync(path("dist/old.js"))) continue
      const shown = JSON.parse((await room.acode("session", "show", "--json")).stdout)
      if (shown.calls[0]?.outcome === "interrupted")
        said.push(shown.calls[0].certainty, shown.exitCode, shown.reason)
    }
    expect(said).toEqual(["unknown", 60, expect.stringContaining("not covered by undo: dist/, notes.local")])
    expect((await room.acode("session", "undo", "--commands")).exitCode).not.toBe(0)
    expect(await check(room.workspace)).toEqual([])
  },
)
