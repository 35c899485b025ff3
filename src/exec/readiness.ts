import { statSync } from "node:fs"
import { errnoOf, messageOf } from "../base/assert.ts"
import { printable } from "../base/text.ts"
import type { CommandError } from "../domain/command-result.ts"
import { Failure } from "../domain/failure.ts"
import type { Launch, Sandbox } from "../sandbox/contract.ts"
import type { ConfinementUse } from "./contract.ts"
import { fromFailure, notExecutable, notFound } from "./errors.ts"
import type { Execution, RunnerDeps } from "./execution.ts"
import { findProgram } from "./program.ts"

/** A command that could be started now, or the reason why it cannot. Nothing has happened either way. */
export type Readiness =
  | {
      readonly kind: "ready"
      readonly launch: Launch
      readonly confined: ConfinementUse
      readonly notice: string | null
    }
  | { readonly kind: "refused"; readonly error: CommandError; readonly confined: ConfinementUse }

/** Finds the directory, the environment, the program and the sandbox of one command. Never throws. */
export async function makeReady(deps: RunnerDeps, execution: Execution): Promise<Readiness> {
  let confined = unconfined(execution)
  try {
    const { sandbox, notice } = await deps.sandboxFor(execution.sandbox)
    confined = { ...confined, kind: sandbox.kind, network: networkOf(sandbox, execution) }
    if (sandbox.kind === "none" && execution.network === "hosts") throw cannotHold(notice)
    const program = programOf(deps, execution)
    if ("code" in program) return { kind: "refused", error: program, confined }
    const launch = await sandbox.prepare({
      ...program,
      workspaceRoot: deps.workspace.path,
      network: confined.network,
      ...connectionsOf(deps, execution),
      writable: execution.writable,
      // A person's own command is not asked about; what it did with such paths is reported.
      asked: deps.owner === "person" ? null : execution.consented,
      limits: execution.command.resourceLimits,
      layers: null,
    })
    return { kind: "ready", launch, confined, notice }
  } catch (error) {
    return { kind: "refused", error: refusalOf(error), confined }
  }
}

/** Returns the confinement to record for a command that was not prepared by a sandbox. */
export function unconfined({ sandbox, network, hosts }: Execution): ConfinementUse {
  const kind = sandbox === "auto" ? "none" : sandbox
  return { kind, network, ...(network === "hosts" ? { hosts: [...hosts] } : {}) }
}

function connectionsOf({ connectionRules }: RunnerDeps, { network, hosts, context }: Execution) {
  return network === "hosts" ? { connections: connectionRules(hosts, context.hostRefusal ?? null) } : {}
}

/** Nothing keeps an unconfined command from the network, whatever was asked for. */
function networkOf(sandbox: Sandbox, { network }: Execution): ConfinementUse["network"] {
  return sandbox.kind === "none" && network !== "hosts" ? "host" : network
}

/** Returns the refusal of a command with a list of hosts where no sandbox can enforce that list. */
function cannotHold(notice: string | null): Failure {
  return new Failure({
    kind: "confinement",
    code: "ACODE-EXE-010",
    message: "a command can be held to a list of hosts only in a sandbox, and there is none here",
    hint: notice ?? "choose --sandbox bwrap, or --network host if it may reach everything",
  })
}

interface Program {
  readonly argv: readonly string[]
  readonly environment: Readonly<Record<string, string>>
  readonly cwd: string
}

function programOf(deps: RunnerDeps, execution: Execution): Program | CommandError {
  const { command, environment, useShell } = execution
  // Resolved again: while the command waited for a slot, the directory may have become a link to somewhere else.
  const cwd = deps.workspace.directory(command.workingDirectory ?? ".").absolute
  const name = useShell ? shellPath : command.executable
  const args = useShell ? shellArguments(command.executable, command.arguments) : command.arguments
  const search = findProgram(name, cwd, environment["PATH"])
  if (search.kind === "missing") return notFound(name)
  if (search.kind === "notExecutable") return notExecutable(name)
  return { argv: [search.path, ...args], environment: atDirectory(deps, environment, cwd), cwd }
}

/** The caller's PWD names the directory acode was called from; a command that runs elsewhere gets its own. */
function atDirectory(
  { hostEnvironment: host }: RunnerDeps,
  environment: Program["environment"],
  cwd: string,
): Program["environment"] {
  const { PWD: inherited } = environment
  if (inherited === undefined || inherited !== host["PWD"] || isSameDirectory(inherited, cwd))
    return environment
  return { ...environment, PWD: cwd }
}

/** Compares identities: a shell names a directory by the symlinks that led there. */
function isSameDirectory(one: string, other: string): boolean {
  const [a, b] = [one, other].map(path => statSync(path, { throwIfNoEntry: false }))
  return a !== undefined && b !== undefined && a.ino === b.ino && a.dev === b.dev
}

function refusalOf(thrown: unknown): CommandError {
  if (thrown instanceof Failure) return fromFailure(thrown)
  return {
    code: "ACODE-EXE-010",
    message: `the sandbox could not be prepared: ${printable(messageOf(thrown))}`,
    details: { hint: isUnwritable(thrown) ? unwritableHint : "`acode doctor` says what is missing" },
  }
}

const unwritableHint = "make the workspace writable for this user, or choose another one with -C"

function isUnwritable(thrown: unknown): boolean {
  return ["EROFS", "EACCES", "EPERM"].includes(errnoOf(thrown) ?? "")
}

/** The script of a command that asked for a shell; its arguments are `$1`, `$2`, … and never part of the script. */
export function shellArguments(script: string, args: readonly string[]): readonly string[] {
  return ["-c", script, "sh", ...args]
}

/** POSIX names no other place for it, and looking it up on PATH would let a workspace supply its own. */
export const shellPath = "/bin/sh"
