import { afterEach, beforeEach, expect } from "bun:test"
import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { shellQuoted } from "../../src/base/text.ts"
import { cliCommands } from "../../src/cli/commands/table.ts"
import { taskText } from "../../src/domain/skill/task-text.ts"
import { exampleTask } from "../domain/skill/task-fixture.ts"
import { acodeProgram, repositoryRoot } from "../support/acode.ts"
import { type AgentWorkspace, agentWorkspace } from "../support/agent/agent-workspace.ts"
import { planText } from "../support/plan/plan-workspace.ts"
import { missingProgram, planAndCommands, testWhere } from "../support/requirement.ts"
import { reply } from "../support/script-replies.ts"

/** What a stranger would write to a terminal: the clipboard, a title, colours, orders in 7 bits and in 8. */
const evil =
  "\u001b]52;c;RVZJTA==\u0007\u001b]0;EVIL\u0007\u001b[31mEVIL\u001b[2J\u009b31m\u009d0;EVIL\u009c\r\u001bPEVIL\u001b\\\u0007\u202eEVIL"
const name = `f${evil}`

let room: AgentWorkspace
let server: ReturnType<typeof Bun.serve>

beforeEach(() => {
  room = agentWorkspace({ git: true, files: { [name]: "one\n", "a.txt": `${evil}\n` } })
  const { workspace } = room
  workspace.write(".git/HEAD", `ref: refs/heads/${evil}\n`)
  workspace.write(
    ".agents/skills/evil/SKILL.md",
    `---\nname: evil\ndescription: ${JSON.stringify(evil)}\n---\n${evil}\n`,
  )
  const hostile = { to: "evil", goal: evil, requirements: evil, from: evil, tags: [evil] }
  const output = { path: "out/hostile.md", format: "markdown" }
  workspace.write("tasks/hostile.md", taskText(exampleTask({ ...hostile, id: "hostile", output })))
  workspace.write(`tasks/${evil}.md`, `---\nid: ${JSON.stringify(evil)}\n---\n${evil}\n`)
  workspace.write("pipeline.yml", `name: ${JSON.stringify(evil)}\n${JSON.stringify(evil)}: 1\n`)
  workspace.write(`.agents/skills/x${evil}/SKILL.md`, `${evil}\n`)
  workspace.write(`${evil}/${evil}/${evil}`, "deep\n")
  server = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: answer })
  mkdirSync(join(workspace.configHome, "acode"))
  const config = {
    schema_version: "1",
    model: { provider: "ollama", endpoint: `http://127.0.0.1:${server.port}` },
    rules: [
      { name: evil, operation: "file_delete", pattern: "**/EVIL*", policy: "deny", prompt_message: evil },
    ],
    commands: { lint: ["sh", "-c", evil] },
    approvals: { non_interactive: "rest" },
  }
  writeFileSync(join(workspace.configHome, "acode/config.yml"), JSON.stringify(config))
})

afterEach(() => {
  server.stop(true)
  room[Symbol.dispose]()
})

/** A model server whose every word is hostile. */
function answer(request: Request): Response {
  const { pathname } = new URL(request.url)
  if (pathname === "/api/tags" || pathname === "/api/ps")
    return Response.json({ models: [{ name: evil, model: evil, digest: evil, details: { family: evil } }] })
  if (pathname === "/api/version") return Response.json({ version: evil })
  return new Response(evil, { status: 500, statusText: "no" })
}

/** The sequences of acode itself: three styles, the end of them, and the line it takes back. */
const own = ["\u001b[2m", "\u001b[31m", "\u001b[32m", "\u001b[0m", "\r\u001b[2K"]

/** What a terminal got that it would act on, with what stands before it. */
function acted(bytes: string): readonly string[] {
  const left = own.reduce((text, sequence) => text.replaceAll(sequence, ""), bytes).replaceAll("\r\n", "\n")
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it looks for
  const found = left.matchAll(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202e]/g)
  return [...found].map(({ index }) => JSON.stringify(left.slice(Math.max(0, index - 120), index + 20)))
}

/** Runs command lines on a pseudo-terminal and gives the very bytes it got. */
async function onTerminal(
  lines: readonly (readonly string[])[],
  more: Readonly<Record<string, string>> = {},
) {
  const file = join(room.workspace.outside, "lines.json")
  writeFileSync(file, JSON.stringify(lines))
  const driver = join(repositoryRoot, "test/support/terminal/terminal-program.ts")
  return atPty([process.execPath, driver, file], more)
}

async function atPty(argv: readonly string[], more: Readonly<Record<string, string>> = {}): Promise<string> {
  const child = Bun.spawn(["script", "-qec", argv.map(shellQuoted).join(" "), "/dev/null"], {
    cwd: room.workspace.root,
    env: { ...room.environment, ACODE_NON_INTERACTIVE: "1", TERM: "xterm-256color", ...more },
    stdin: "pipe",
    stdout: "pipe",
  })
  const bytes = Buffer.from(await new Response(child.stdout).arrayBuffer())
  await child.exited
  return bytes.toString("utf8")
}

const ids = async (...args: readonly string[]): Promise<readonly string[]> => {
  const run = await room.acode(...args, "--json")
  return JSON.parse(run.stdout).map(({ id }: { id: string }) => id)
}

function script(...replies: readonly Readonly<Record<string, unknown>>[]): string {
  const path = join(room.workspace.outside, `replies-${replies.length}.json`)
  writeFileSync(path, JSON.stringify({ replies }))
  return path
}

/** Sessions, executions, questions and evidence, all of them about hostile names and words. */
async function furnish(planFile: string): Promise<void> {
  const print = [
    "sh",
    "-c",
    'printf %s "$1"; printf %s "$1" >&2; printf %s x > ".env.$2"; exit 3',
    evil,
    evil,
    "x",
  ]
  const task = {
    write: ["**"],
    commands: [["cp"]],
    more: { title: evil, description: evil },
    steps: [{ id: "s1", title: evil, description: evil, action: "WRITE_FILE", depends_on: [] }],
    acceptance: [
      { id: "a1", kind: "file_contains", path: name, pattern: "EVIL" },
      { id: "a2", kind: "judgement", text: evil },
    ],
  }
  const replies = script(
    reply.plan(task),
    reply.calls(["write_file", { path: name, content: evil }], ["run_command", { argv: print }]),
    reply.run("cp", "a.txt", `copy${evil}`),
    reply.calls(["delete_file", { paths: [name] }], [evil, { [evil]: evil }]),
    reply.finish(evil),
    { stage: "verifier", verdict: { criteria: [{ id: "a2", verdict: "failed", reason: evil }] } },
    { stage: "planner", questions: [evil] },
  )
  const flags = ["--script", replies, `--yes=${planAndCommands}`, "--max-cycles", "0"]
  const asking = script(
    reply.plan(task),
    reply.calls(["write_file", { path: ".github/x.yml", content: evil }]),
  )
  const bytes = await onTerminal([
    ["exec", "--capture", "all", "--json", "--", ...print],
    ["run", evil, ...flags, "--verbose"],
    ["task", evil, "--script", asking, `--yes=${planAndCommands}`],
    ["plan", "validate", planFile],
    ["plan", "show", planFile],
    ["plan", "approve", planFile],
    ["plan", "run", planFile, "--verbose"],
  ])
  expect(acted(bytes)).toEqual([])
  expect(bytes).toContain("EVIL")
}

testWhere(missingProgram("script"))(
  "no verb writes anything to a terminal that it would act on, whatever is named how",
  async () => {
    const { workspace } = room
    const planFile = join(workspace.outside, `plan${evil}.json`)
    const writes = ["write_file", { path: "new.txt", content: evil }, { title: evil }] as const
    const fails = ["run_command", { argv: ["sh", "-c", `printf %s "$0"; exit 9`, evil] }] as const
    writeFileSync(planFile, planText([writes, fails], "plan"))
    const badPlan = join(workspace.outside, "bad.json")
    writeFileSync(
      badPlan,
      JSON.stringify({ plan_id: evil, [evil]: evil, steps: [{ step_id: evil, tool: evil }] }),
    )
    await furnish(planFile)

    const [session = ""] = await ids("session", "list")
    const [run = ""] = await ids("runs", "list")
    const [checkpoint = ""] = await ids("checkpoint", "list")
    const questions = await ids("approvals", "list")
    const evidence = await ids("evidence", "failures")
    const table: Readonly<Record<string, readonly (readonly string[])[]>> = {
      run: [
        [evil, "--model", evil],
        ["x", "--script", evil],
      ],
      task: [[evil, "--context-files", evil]],
      resume: [[session], [evil]],
      status: [[], [session]],
      pause: [[session]],
      cancel: [[session, "--reason", evil]],
      "plan validate": [[planFile], [badPlan], [evil]],
      "plan show": [[planFile], [badPlan]],
      "plan hash": [[planFile], [evil]],
      "plan approve": [[planFile], [badPlan]],
      "plan run": [[planFile], [badPlan]],
      "session list": [[], ["--json"]],
      "session show": [[session], ["--json"], [evil]],
      "session logs": [[session], ["--json"], ["--filter", evil]],
      "session undo": [[session, "--commands"]],
      "session validate": [[session]],
      "session prune": [
        ["--older-than", "30d"],
        ["--older-than", evil],
      ],
      "checkpoint show": [[checkpoint]],
      "checkpoint restore": [[checkpoint, name]],
      "approvals show": questions.map(id => [id]),
      approve: [[questions[0] ?? evil], [evil]],
      deny: [[questions.at(-1) ?? evil, "--reason", evil]],
      "evidence by-tool": [["run_command"], [evil]],
      "evidence failures": [[], ["--json"]],
      "evidence by-code": [["ACODE-EXE-003"], [evil]],
      "evidence by-file": [[name]],
      "evidence show": evidence.slice(0, 2).map(id => [id]),
      "evidence latest": [[name]],
      "evidence fixes": [["E201"], [evil]],
      exec: [
        ["--cwd", evil, "--", "true"],
        ["--", evil],
        ["--env", evil, "--", "true"],
      ],
      "runs list": [[], ["--json"]],
      "runs show": [[run], [run, "--full-output"], [run, "--json"], [evil]],
      "runs prune": [["--older-than", "30d"]],
      "audit accept": [["--reason", evil], [evil]],
      "agent run": [["hostile", "--script", script({ stage: "agent", text: evil })], ["--pending"]],
      "agent pipeline": [["pipeline.yml"], [evil]],
      "agent list": [[], ["--json"], ["--skill", evil]],
      "agent show": [["hostile"], [evil]],
      "agent reset": [["hostile", "--reason", evil], [evil]],
      "storage free": [["--to", "1GB", "--dry-run"]],
      "workspace adopt": [[evil]],
      "workspace forget": [[evil]],
      "skills list": [[], ["--json"]],
      "skills show": [["evil"], [`x${evil}`]],
      "models probe": [[evil]],
      "policy check": [
        ["--path", name, "--op", "delete"],
        ["--", "rm", evil],
        ["--json", "--path", name, "--op", "read"],
      ],
      redact: [],
      "config show": [["--origin"], ["--json"]],
      "config get": [["rules"], [evil]],
      "config set": [
        ["execution.sandbox", evil],
        [evil, "1"],
      ],
      schema: [[evil]],
      demo: [],
    }
    const verbs = cliCommands.map(command => command.name)
    expect(Object.keys(table).filter(verb => !verbs.includes(verb))).toEqual([])
    // A verb that needs nothing special is run alone and with a hostile argument.
    const lines = verbs.flatMap(verb =>
      (table[verb] ?? [[], [evil]]).map(args => [...verb.split(" "), ...args]),
    )
    expect(acted(await onTerminal([...lines, [evil], ["run", `--${evil}`], ["-C", evil, "status"]]))).toEqual(
      [],
    )
    workspace.write(
      ".agent/config.yml",
      `${JSON.stringify({ schema_version: "1", [evil]: evil, execution: evil })}\n`,
    )
    const broken = [["status"], ["config", "show"], ["exec", "--", "true"]]
    expect(acted(await onTerminal(broken))).toEqual([])
    expect(acted(await onTerminal([["status"]], { ACODE_JSON: evil, ACODE_STATE_DIR: evil }))).toEqual([])
  },
  120_000,
)

testWhere(missingProgram("script"))(
  "exec passes colours and the cursor on, nothing else, and a pipe gets all of it",
  async () => {
    const text = `\u001b[1;32mok\u001b[0m\r\u001b[K${evil}\u001b]8;;https://x.example\u0007link\u001b]8;;\u0007 done\n`
    const argv = [acodeProgram(), "exec", "--", "printf", "%s", text]
    const bytes = await atPty(argv)
    expect(bytes).toContain(
      "\u001b[1;32mok\u001b[0m\r\u001b[K\u001b[31mEVIL\u001b[2J\u001b[31m\r\u0007\u202eEVILlink done\r\n",
    )
    expect(bytes).not.toContain("52;c;")
    const piped = Bun.spawnSync(argv, { cwd: room.workspace.root, env: { ...room.environment } })
    expect(piped.stdout.toString()).toBe(text)
    const redacted = await atPty([
      "sh",
      "-c",
      `printf %s ${shellQuoted(text)} | ${shellQuoted(acodeProgram())} redact`,
    ])
    expect(redacted).not.toMatch(/52;c;|0;EVIL/)
  },
)
