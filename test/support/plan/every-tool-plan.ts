import { chmodSync } from "node:fs"
import { join } from "node:path"
import { missingSandbox } from "../requirement.ts"
import type { Entry, FileTree } from "../workspace/file-tree.ts"
import type { TempWorkspace } from "../workspace/temp-workspace.ts"

/**
 * A plan, and what the tree is after each of its steps. The trees are written down and not taken from a run, so that a
 * run cannot be wrong in both places.
 */
export interface PlanWithTrees {
  /** The plan as a file. */
  readonly plan: object
  /** The tree before the first step, after the first one, … */
  readonly trees: readonly FileTree[]
}

/** Says something in the middle, so that a crash at that moment leaves half of its work. */
const script = [
  "echo line >> notes.txt",
  "chmod 600 kept.txt",
  "rm tool.sh",
  "mkdir -p out/x",
  "printf made > out/x/y",
  "ln -s ../notes.txt out/link",
  "echo half",
  "sleep 0.05",
  "printf late > late.txt",
].join("; ")

const patch = [
  ...["--- a/src/a.ts", "+++ b/src/a.ts", "@@ -1 +1 @@", "-export const a = 1", "+export const a = 2"],
  ...["--- a/src/b.ts", "+++ b/src/b.ts", "@@ -1 +1 @@", "-export const b = 1", "+export const b = 2"],
  "",
].join("\n")

export type TreeChange = Readonly<Record<string, Entry | null>>

export interface StepWithChanges {
  readonly tool: string
  readonly arguments: object
  /** Null for a path that goes. */
  readonly changes: TreeChange
}

const plain = 0o666 & ~process.umask()

export function file(content: string, mode = plain): Entry {
  return { kind: "file", mode, content }
}

const before: TreeChange = {
  "kept.txt": file("kept\n", 0o640),
  "notes.txt": file("alpha\nbeta\n", 0o640),
  "old/one.txt": file("one\n"),
  "old/two.txt": file("two\n"),
  "src/a.ts": file("export const a = 1\n"),
  "src/b.ts": file("export const b = 1\n", 0o755),
  "tool.sh": file("#!/bin/sh\nexit 0\n", 0o755),
}

const everyStep: readonly StepWithChanges[] = [
  { tool: "read_file", arguments: { path: "notes.txt" }, changes: {} },
  {
    tool: "write_file",
    arguments: { path: "made/deep/new.txt", content: "new\n" },
    changes: { "made/deep/new.txt": file("new\n") },
  },
  {
    tool: "write_file",
    arguments: { path: "tool.sh", content: "#!/bin/sh\nexit 1\n" },
    changes: { "tool.sh": file("#!/bin/sh\nexit 1\n", 0o755) },
  },
  {
    tool: "create_file",
    arguments: { path: "created.txt", content: "created\n" },
    changes: { "created.txt": file("created\n") },
  },
  {
    tool: "modify_file",
    arguments: { path: "notes.txt", edits: [{ search: "beta", replace: "BETA" }] },
    changes: { "notes.txt": file("alpha\nBETA\n", 0o640) },
  },
  {
    tool: "modify_file",
    arguments: { path: ".", patch },
    changes: { "src/a.ts": file("export const a = 2\n"), "src/b.ts": file("export const b = 2\n", 0o755) },
  },
  {
    tool: "delete_file",
    arguments: { paths: ["old/one.txt", "old/two.txt"] },
    changes: { "old/one.txt": null, "old/two.txt": null },
  },
  { tool: "list_directory", arguments: { path: "." }, changes: {} },
  { tool: "search_code", arguments: { pattern: "const" }, changes: {} },
  { tool: "glob", arguments: { pattern: "**/*.ts" }, changes: {} },
  {
    tool: "run_command",
    arguments: { argv: ["sh", "-c", script] },
    changes: {
      "notes.txt": file("alpha\nBETA\nline\n", 0o640),
      "kept.txt": file("kept\n", 0o600),
      "tool.sh": null,
      "out/x/y": file("made"),
      "out/link": { kind: "symlink", mode: 0, content: "../notes.txt" },
      "late.txt": file("late"),
    },
  },
  {
    tool: "run_terminal",
    arguments: { command: "cp notes.txt copy.txt" },
    changes: { "copy.txt": file("alpha\nBETA\nline\n", 0o640 & ~process.umask()) },
  },
]

/** The steps of the plan; without a sandbox none runs a command, since the effect of a killed one would be unknown. */
const steps = everyStep.filter(({ tool }) => missingSandbox === null || !tool.startsWith("run_"))

/** Every tool that changes files by itself or runs a program; `splicePlan` has those that know code. */
export const everyToolPlan: PlanWithTrees = planWithTrees("every-tool", before, steps)

export function planWithTrees(
  planId: string,
  first: TreeChange,
  steps: readonly StepWithChanges[],
): PlanWithTrees {
  return {
    plan: {
      plan_id: planId,
      intent: "MUTATE",
      steps: steps.map(({ tool, arguments: args }, index) => ({
        step_id: `s${index + 1}`,
        tool,
        arguments: args,
      })),
    },
    trees: treesAfter(changed(new Map(), first), steps),
  }
}

/** Puts the tree before the first step into an empty workspace. */
export function writeFirstTree(workspace: TempWorkspace, { trees }: PlanWithTrees): void {
  for (const [path, entry] of trees[0] ?? []) {
    // The tree has each byte as one character.
    workspace.write(path, Buffer.from(entry.content, "latin1"))
    chmodSync(join(workspace.root, path), entry.mode)
  }
}

function treesAfter(first: FileTree, steps: readonly StepWithChanges[]): readonly FileTree[] {
  const trees = [first]
  let tree = first
  for (const { changes } of steps) {
    tree = changed(tree, changes)
    trees.push(tree)
  }
  return trees
}

function changed(tree: FileTree, changes: TreeChange): FileTree {
  const next = new Map(tree)
  for (const [path, entry] of Object.entries(changes))
    if (entry === null) next.delete(path)
    else next.set(path, entry)
  return next
}
