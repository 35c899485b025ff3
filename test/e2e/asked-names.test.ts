import { afterEach, beforeEach, describe, expect, test } from "bun:test"
import { lstatSync, mkdirSync, readFileSync, readlinkSync, symlinkSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { type AgentRun, type AgentWorkspace, agentWorkspace } from "../support/agent/agent-workspace.ts"
import { confinedKind, missingSandbox, testWhere } from "../support/requirement.ts"
import { reply } from "../support/script-replies.ts"

const confined = testWhere(missingSandbox)
const before = {
  ".github/workflows/ci.yml": "on: push\n",
  "AGENTS.md": "be kind\n",
  "docs/guide.md": "guide\n",
  "a.txt": "a\n",
}

let room: AgentWorkspace
beforeEach(() => {
  room = agentWorkspace({ git: true, files: before })
  symlinkSync("docs/guide.md", join(room.workspace.root, "CLAUDE.md"))
})
afterEach(() => room[Symbol.dispose]())

const acceptance = [{ id: "a1", kind: "file_exists", path: "b.txt" }]

/** A program of the project, as a test runner or a generator: nothing in its name says what it writes. */
const work = (...lines: readonly string[]) =>
  room.workspace.write("work.sh", lines.map(line => `${line}\n`).join(""))

/** A session whose model runs that program, granted by its plan. */
async function session(
  write: readonly string[],
  ...calls: readonly Readonly<Record<string, unknown>>[]
): Promise<AgentRun> {
  room.script(
    reply.plan({ write: [...write, "*.txt"], commands: [["sh", "work.sh"]], acceptance }),
    ...(calls.length === 0 ? [reply.run("sh", "work.sh")] : calls),
    reply.write("b.txt", "b\n"),
    reply.finish(),
    reply.review("approve"),
  )
  return room.run("--yes=plan")
}

const results = (run: AgentRun) =>
  run.data("command.finished").map(({ result }) => (result as { sandbox: { quarantined: string[] } }).sandbox)

describe("what a command of a session does to CI files and instructions", () => {
  confined(
    "it may write none that is there, and what it made or replaced is moved away and reported",
    async () => {
      work(
        "echo evil > .github/workflows/ci.yml",
        "echo evil >> AGENTS.md; rm -f AGENTS.md; mv .github .hidden",
        "echo evil > .github/workflows/new.yml; mkdir -p sub/.github; echo evil > sub/.github/x.yml",
        "echo evil > GEMINI.md; rm CLAUDE.md; echo evil > CLAUDE.md",
        "true",
      )
      const run = await session([])
      expect([run.exitCode, ...results(run).map(({ quarantined }) => quarantined)]).toEqual([
        0,
        ["CLAUDE.md", "GEMINI.md", "sub/.github"],
      ])
      for (const [path, content] of Object.entries(before))
        expect([path, room.file(path)]).toEqual([path, content])
      expect(readlinkSync(join(room.workspace.root, "CLAUDE.md"))).toBe("docs/guide.md")
      for (const path of ["GEMINI.md", "sub/.github", ".github/workflows/new.yml"])
        expect(room.file(path)).toBeNull()
      expect(JSON.stringify(run.data("tool_call.settled"))).toContain("CLAUDE.md, GEMINI.md, sub/.github")
      const [quarantine = ""] = [...new Bun.Glob("quarantine/*/GEMINI.md").scanSync(room.workspace.state())]
      expect(readFileSync(room.workspace.state(quarantine), "utf8")).toBe("evil\n")
    },
  )

  confined("the very names that the plan grants are open to it, and nothing beside them", async () => {
    work(
      "echo new > .github/workflows/ci.yml; echo new > .github/workflows/other.yml",
      "mkdir -p .circleci; echo new > .circleci/config.yml; echo evil > .circleci/other.yml",
      "echo evil >> AGENTS.md",
      "true",
    )
    const run = await session([".github/workflows/ci.yml", ".circleci/config.yml", "**/*.md", "AGENTS*"])
    expect([run.exitCode, ...results(run).map(({ quarantined }) => quarantined)]).toEqual([
      0,
      [".circleci/other.yml", ".github/workflows/other.yml"],
    ])
    expect([room.file(".github/workflows/ci.yml"), room.file(".circleci/config.yml")]).toEqual([
      "new\n",
      "new\n",
    ])
    expect([room.file("AGENTS.md"), room.file(".circleci/other.yml")]).toEqual(["be kind\n", null])
  })

  confined("a person who agrees to a command that names one opens that one", async () => {
    mkdirSync(join(room.workspace.configHome, "acode"))
    const config = 'schema_version: "1"\napprovals: { non_interactive: rest }\n'
    writeFileSync(join(room.workspace.configHome, "acode/config.yml"), config)
    const rested = await session(["*.md"], reply.run("cp", "a.txt", "AGENTS.md"))
    expect([rested.exitCode, room.file("AGENTS.md")]).toEqual([10, "be kind\n"])
    const [{ id }] = JSON.parse((await room.acode("approvals", "list", "--json")).stdout)
    expect((await room.acode("approve", id)).exitCode).toBe(0)
    const resumed = await room.resume()
    expect([resumed.exitCode, room.file("AGENTS.md")]).toEqual([0, "a\n"])
  })
})

describe("a person's own command", () => {
  confined("writes them, and they are reported", async () => {
    const script = [
      "echo new > .github/workflows/ci.yml; echo new > GEMINI.md; echo a >> a.txt; rm AGENTS.md",
      "mkdir .circleci; echo new > .circleci/config.yml; echo new > .github/.env",
    ].join("; ")
    const run = await room.acode("exec", "--", "sh", "-c", script)
    const told = ".circleci, .github/workflows/ci.yml, AGENTS.md, GEMINI.md"
    expect([run.exitCode, run.stderr]).toEqual([
      0,
      expect.stringContaining(`files that CI or assistants act on: ${told};`),
    ])
    expect(run.stderr).toContain("quarantine, protected: .github/.env")
    expect([room.file("GEMINI.md"), room.file("AGENTS.md")]).toEqual(["new\n", null])
    const again = await room.acode("exec", "--json", "--", "cat", "GEMINI.md")
    expect(JSON.parse(again.stdout).result.sandbox).toEqual({
      kind: confinedKind,
      network: "none",
      quarantined: [],
    })
  })

  test("is not kept from a link that is called so", async () => {
    expect((await room.acode("exec", "--", "true")).exitCode).toBe(0)
    expect(lstatSync(join(room.workspace.root, "CLAUDE.md")).isSymbolicLink()).toBe(true)
  })
})
