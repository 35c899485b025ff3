import type { ReplyText } from "./agent/agent-workspace.ts"

type Part = Readonly<Record<string, unknown>>

export interface TaskText {
  readonly id?: string
  readonly write?: readonly string[]
  readonly commands?: readonly (readonly string[])[]
  readonly acceptance?: readonly Part[]
  readonly steps?: readonly Part[]
  readonly more?: Part
  /** The intent of the whole plan: that of the first task with one. */
  readonly intent?: string
}

/** Replies of a scripted model, each with what is left out filled in. */
export const reply = {
  plan: (...tasks: TaskText[]): ReplyText => ({ stage: "planner", plan: planOf(tasks) }),
  calls: (...calls: (readonly [tool: string, args: Part])[]): ReplyText => ({
    stage: "executor",
    calls: calls.map(([tool, args]) => ({ tool, args })),
  }),
  write: (path: string, content: string): ReplyText => reply.calls(["write_file", { path, content }]),
  finish: (summary = "done"): ReplyText => reply.calls(["finish_step", { summary }]),
  giveUp: (summary: string): ReplyText => reply.calls(["finish_step", { summary, status: "failed" }]),
  run: (...argv: string[]): ReplyText => reply.calls(["run_command", { argv }]),
  judge: (id: string, verdict: string): ReplyText => ({
    stage: "verifier",
    verdict: { criteria: [{ id, verdict, reason: `it ${verdict}` }] },
  }),
  review: (decision: string, summary: string = decision): ReplyText => ({
    stage: "reviewer",
    verdict: { decision, summary },
  }),
  fault: (stage: string, kind: string, afterMs = 0): ReplyText => ({
    stage,
    fault: { kind, after_ms: afterMs },
  }),
} as const

function planOf(tasks: readonly TaskText[]): Part {
  return {
    goal: "what is asked",
    intent: tasks.find(({ intent }) => intent !== undefined)?.intent ?? "MUTATE",
    tasks: tasks.map((task, index) => taskOf(task, `t${index + 1}`)),
  }
}

function taskOf({ id, write = [], commands = [], acceptance = [], steps, more = {} }: TaskText, own: string) {
  return {
    id: id ?? own,
    resources: { write, commands },
    acceptance,
    steps: steps ?? [open("s1")],
    ...more,
  }
}

/** A step whose calls the model chooses. */
export function open(id: string, action = "WRITE_FILE", more: Part = {}): Part {
  return { id, description: `do ${id}`, action, ...more }
}

/** A step that is one call. */
export function concrete(id: string, tool: string, args: Part, more: Part = {}): Part {
  return { id, tool, arguments: args, ...more }
}

/** `a1`: a line of the file matches. */
export function contains(path: string, pattern: string, id = "a1"): Part {
  return { id, kind: "file_contains", path, pattern }
}

/** A whole session: one file is written, checked and approved. */
export function greeting(...more: ReplyText[]): readonly ReplyText[] {
  return [
    reply.plan({ write: ["greeting.txt"], acceptance: [contains("greeting.txt", "hello")] }),
    reply.write("greeting.txt", "hello\n"),
    reply.finish(),
    ...(more.length === 0 ? [reply.review("approve")] : more),
  ]
}
