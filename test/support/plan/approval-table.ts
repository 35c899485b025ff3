import type { Effect } from "../../../src/domain/effect.ts"

/** The values of `approvals.<category>`. */
export const policies = ["auto", "prompt", "deny", "skip"] as const
export type Policy = (typeof policies)[number]

/**
 * The inputs of a decision besides the action: a scope of `--yes`, configuration, and whether commands are confined.
 */
export interface Circumstances {
  readonly scope: string
  readonly policy: Policy
  readonly isConfined: boolean
}

/** One thing that may be asked of a person, and where only that is asked, how a model and a step ask for it. */
export interface Action {
  readonly name: string
  /** The part of configuration that speaks about it; null where nothing but acode itself does. */
  readonly key:
    | "file_read"
    | "file_write"
    | "file_delete"
    | "directory_create"
    | "terminal"
    | "network"
    | null
  readonly call: readonly [tool: string, args: Readonly<Record<string, unknown>>] | null
  readonly effects: readonly Effect[]
}

/** The grant of each session's plan; only `--yes=plan` approves it, without a person seeing it. */
export const planned = { write: ["planned.txt"] } as const

/** One action for each case that a scope distinguishes. A new dimension is one more entry, with rows below. */
export const actions: readonly Action[] = [
  file("makeDirectory", "directory_create", "createDirectory", "fresh"),
  file("list", "file_read", "list", "."),
  written("writePlanned", planned.write[0]),
  written("writePlain", "plain.txt"),
  written("writeTest", "src/a.test.ts"),
  written("writeGenerated", "dist/made.js"),
  written("writeConfig", "settings.json"),
  written("writeInstructions", "AGENTS.md"),
  written("writeProtected", ".env"),
  file("delete", "file_delete", "delete", "old.txt", ["delete_file", { paths: ["old.txt"] }]),
  command("ordinary", "terminal", ["ls"]),
  { ...command("unknown", "terminal", ["sometool"]), call: null },
  command("ownProgram", "terminal", ["./tool"]),
  command("fatal", null, ["rm", "-rf", "/"]),
  command("online", "network", ["ls"], "host"),
  file("read", "file_read", "read", "a.txt", ["read_file", { path: "a.txt" }]),
]

/** The questions that each scope answers; `all` answers everything here but the network and what no scope answers. */
const answers: Readonly<Record<string, readonly string[]>> = {
  "": [],
  none: [],
  default: ["read", "list", "makeDirectory"],
  file_read: ["read", "list"],
  file_write: ["writePlain", "writeTest", "writeGenerated", "writeConfig"],
  "file_write:all": ["writePlain", "writeTest", "writeGenerated", "writeConfig"],
  "file_write:test": ["writeTest"],
  "file_write:generated": ["writeGenerated"],
  "file_write:plain.*": ["writePlain"],
  config: ["writeConfig"],
  file_delete: ["delete"],
  dir_create: ["makeDirectory"],
  dir_delete: ["delete"],
  terminal: ["ordinary"],
  "terminal:safe": ["ordinary"],
  "terminal:all": ["ordinary", "unknown", "ownProgram"],
  network: ["online"],
  plan: [],
  skip_verify: [],
  all: actions.map(({ name }) => name).filter(name => name !== "online"),
}
export const scopes = [...Object.keys(answers), "terminal:all,network", "all,network"]

/** Returns whether a scope accepts plans, without which `--yes=all` is refused. */
export const acceptsPlans = (scope: string) => named(scope).some(name => name === "plan" || name === "all")

type Outcome = "allow" | "ask" | "deny"

/** Returns the expected outcome of an action under a plan that a flag approved. */
export function expected(action: Action, at: Circumstances): Outcome {
  const { name } = action
  if (name === "writeProtected" || name === "fatal") return "deny"
  if (isRefused(at.policy) && action.key !== null && name !== "ordinary") return "deny"
  const asked = questionsOf(action, at)
  return asked.every(question => isAnswered(question, at.scope)) ? "allow" : "ask"
}

/** The same for a step of a plan that a person approved, by `plan approve` on this machine. */
export function expectedOfStep(action: Action, at: Circumstances): Outcome {
  const { name } = action
  if (name === "writeProtected" || name === "fatal") return "deny"
  if (name === "online") return isRefused(at.policy) ? "deny" : "allow"
  // Only a plan that names it as a file to write covers it.
  if (name === "writeInstructions") return isRefused(at.policy) ? "deny" : "ask"
  return "allow"
}

function isRefused(policy: Policy): boolean {
  return policy === "deny" || policy === "skip"
}

/** Returns the questions about an action: running outside of a sandbox is a separate question. */
function questionsOf({ name }: Action, { policy, isConfined }: Circumstances): readonly string[] {
  const unconfined = isConfined ? [] : ["ordinary"]
  if (name === "ordinary") return unconfined
  if (name === "online") return ["online", ...unconfined]
  // Configuration alone lets unknown programs run in a sandbox only, and those of the repository nowhere.
  if (name === "unknown") return policy === "auto" && isConfined ? [] : ["unknown"]
  if (name === "ownProgram") return ["ownProgram"]
  if (name === "writeInstructions") return ["writeInstructions"]
  if (name === "writePlanned") return []
  return policy === "auto" ? [] : [name]
}

function isAnswered(question: string, scope: string): boolean {
  // Neither a scope nor a rule answers for files with instructions for agents.
  if (question === "writeInstructions") return false
  return named(scope).some(name => answers[name]?.includes(question) === true)
}

function named(scope: string): readonly string[] {
  return scope.split(",")
}

function file(
  name: string,
  key: NonNullable<Action["key"]>,
  kind: "read" | "list" | "write" | "delete" | "createDirectory",
  path: string,
  call: Action["call"] = null,
): Action {
  return { name, key, call, effects: [{ kind, path }] }
}

function written(name: string, path: string): Action {
  return file(name, "file_write", "write", path, ["write_file", { path, content: `${name}\n` }])
}

function command(
  name: string,
  key: Action["key"],
  argv: readonly string[],
  network: "none" | "host" = "none",
): Action {
  const args = network === "none" ? { argv } : { argv, network }
  return {
    name,
    key,
    call: ["run_command", args],
    effects: [{ kind: "execute", run: { argv }, cwd: ".", network, confined: true }],
  }
}
