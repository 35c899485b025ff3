import { chmodSync, mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import type { ReplyText } from "../agent/agent-workspace.ts"
import { concrete, contains, open, reply, type TaskText } from "../script-replies.ts"
import type { TempWorkspace } from "../workspace/temp-workspace.ts"

/**
 * A whole session with everything in it: every tool, steps with one call and steps whose calls a model chooses, reads
 * side by side, commands that change files half-way, a verification that fails once, a review that wants another plan,
 * a plan and a change that a person has to approve. Nothing in it depends on time, so its files end up the same however
 * often it is interrupted.
 */
export function writeGoldenSession(workspace: TempWorkspace): void {
  for (const [path, content] of Object.entries(firstFiles)) workspace.write(path, content)
  chmodSync(join(workspace.root, "tool.sh"), 0o755)
  chmodSync(join(workspace.root, "notes.txt"), 0o640)
  writeFileSync(goldenScript(workspace), JSON.stringify({ replies }))
  mkdirSync(join(workspace.configHome, "acode"), { recursive: true, mode: 0o700 })
  // Questions stay open until they are answered from another terminal, however long a matrix of crashes takes.
  const config = 'schema_version: "1"\napprovals:\n  non_interactive: rest\n  timeout_seconds: 0\n'
  writeFileSync(join(workspace.configHome, "acode", "config.yml"), config)
}

/** Returns the path of the script, beside the workspace, so that the tree does not contain it. */
export function goldenScript(workspace: TempWorkspace): string {
  return join(workspace.outside, "script.json")
}

/** Each command adds its own line here: a line that is there twice is an effect that took place twice. */
export const ledgerFile = "ledger.txt"

/** Every tool there is, as the log calls them. */
export const everyTool: readonly string[] = [
  ...["read_file", "write_file", "create_file", "modify_file", "delete_file"],
  ...["list_directory", "search_code", "glob", "run_command", "run_terminal"],
]

const firstFiles: Readonly<Record<string, string>> = {
  "notes.txt": "alpha\nbeta\n",
  "old/one.txt": "one\n",
  "old/two.txt": "two\n",
  "src/a.ts": "export const a = 1\n",
  "src/b.ts": "export const b = 1\n",
  "tool.sh": "#!/bin/sh\nexit 0\n",
}

function appending(line: string): readonly string[] {
  return ["sh", "-c", `echo ${line} >> ${ledgerFile}`]
}

/** Says something in the middle, so that a crash at that moment leaves half of its work. */
const halves = [
  "sh",
  "-c",
  [
    `echo half >> ${ledgerFile}`,
    ...["chmod 600 notes.txt", "rm tool.sh", "mkdir -p out/x", "printf made > out/x/y"],
    ...["ln -s ../notes.txt out/link", "echo half", "sleep 0.03", "printf late > out/late.txt"],
  ].join("; "),
]

/** Fails until the word is there. */
const checkCommand = ["sh", "-c", "grep -q good src/c.ts"]

const commands = [...["one", "two", "three", "four", "five"].map(appending), halves, checkCommand]

const patch = [
  ...["--- a/src/a.ts", "+++ b/src/a.ts", "@@ -1 +1 @@", "-export const a = 1", "+export const a = 2"],
  ...["--- a/src/b.ts", "+++ b/src/b.ts", "@@ -1 +1 @@", "-export const b = 1", "+export const b = 2"],
  "",
].join("\n")

const first: TaskText = {
  id: "t1",
  write: ["src/**", "out/**", "more/**", "notes.txt", "copy.txt", "tool.sh", "old/**", ledgerFile],
  commands,
  acceptance: [
    { id: "a1", kind: "command", command: checkCommand, expect_exit: 0 },
    contains("src/a.ts", "a = 2", "a2"),
    { id: "a3", kind: "file_exists", path: "out/late.txt" },
    { id: "a4", kind: "judgement", text: "the notes are in order" },
  ],
  steps: [
    open("s1", "READ_FILE"),
    open("s2", "MODIFY_FILE", { depends_on: ["s1"] }),
    concrete("s3", "run_terminal", { command: "cp notes.txt copy.txt" }, { depends_on: ["s2"] }),
    concrete("s4", "delete_file", { paths: ["old/one.txt", "old/two.txt"] }, { depends_on: ["s3"] }),
  ],
}

const second: TaskText = {
  id: "t2",
  commands,
  more: { depends_on: ["t1"] },
  acceptance: [contains(ledgerFile, "^two$")],
  steps: [
    open("s1", "RUN_COMMAND"),
    concrete("s2", "run_command", { argv: [...appending("three")] }, { depends_on: ["s1"] }),
  ],
}

/** Asks for nothing that the first plan did not ask for. */
const third: TaskText = {
  id: "t3",
  write: ["more/**"],
  more: { depends_on: ["t2"] },
  acceptance: [contains("more/9.txt", "ninth")],
  steps: [open("s1", "CREATE_FILE"), open("s2", "WRITE_FILE", { depends_on: ["s1"] })],
}

type Call = Parameters<typeof reply.calls>[number]

const run = (argv: readonly string[]): Call => ["run_command", { argv: [...argv] }]
const write = (path: string, content: string): Call => ["write_file", { path, content }]
const read = (path: string): Call => ["read_file", { path }]
const edit = (path: string, search: string, replace: string): Call => [
  "modify_file",
  { path, edits: [{ search, replace }] },
]

const firstRound: readonly ReplyText[] = [
  reply.plan(first, second),
  reply.calls(
    ...[read("notes.txt"), read("src/a.ts"), read("src/b.ts")],
    ["list_directory", { path: "." }],
    ["glob", { pattern: "**/*.ts" }],
    ["search_code", { pattern: "const" }],
  ),
  reply.calls(read("tool.sh"), ["list_directory", { path: "src" }]),
  reply.finish("looked around"),
  reply.calls(
    edit("notes.txt", "beta", "BETA"),
    ["modify_file", { path: ".", patch }],
    run(appending("one")),
  ),
  // The model receives the error of a failed call and continues with the next one.
  reply.calls(read("nowhere.txt"), [
    "create_file",
    { path: "src/c.ts", content: "export const c = 'bad'\n" },
  ]),
  reply.calls(write("tool.sh", "#!/bin/sh\nexit 1\n"), read("tool.sh"), run(halves)),
  reply.finish("changed"),
  reply.calls(run(appending("two")), read("src/c.ts")),
  reply.finish("ran"),
]

const mending: readonly ReplyText[] = [
  // Claims too early, which the reply to the model says.
  reply.finish("already fine"),
  reply.calls(edit("src/c.ts", "bad", "good"), run(appending("four"))),
  reply.finish("mended"),
  reply.judge("a4", "passed"),
  reply.review("replan", "nine files more are needed"),
]

/** The last file is outside of what the plans ask for: a person has to approve it. */
const secondRound: readonly ReplyText[] = [
  reply.plan(first, second, third),
  ...[1, 4, 7].map(at =>
    reply.calls(
      ...[0, 1, 2].map(more => write(`more/${at + more}.txt`, at + more === 9 ? "ninth\n" : "more\n")),
      read(`more/${at}.txt`),
    ),
  ),
  reply.calls(edit("more/1.txt", "more", "one more"), run(appending("five"))),
  reply.finish("nine of them"),
  reply.calls(
    read("more/9.txt"),
    write("beyond.txt", "approved\n"),
    edit("more/9.txt", "ninth", "the ninth"),
  ),
  reply.finish("all of it"),
  reply.judge("a4", "passed"),
  reply.review("approve"),
]

const replies: readonly ReplyText[] = [...firstRound, ...mending, ...secondRound]
