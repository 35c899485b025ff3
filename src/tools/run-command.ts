import * as z from "zod/mini"
import { lazily } from "../base/lazy.ts"
import { shellQuoted } from "../base/text.ts"
import { networkChoices } from "../domain/command.ts"
import { Failure } from "../domain/failure.ts"
import { hostsMax } from "../domain/hosts.ts"
import { stepActions } from "../domain/plan/tool-traits.ts"
import { declareCommand } from "./command-call.ts"
import type { Tool, ToolDeps } from "./contract.ts"
import { isFailure } from "./file-state.ts"

const secondsMax = 24 * 3600

const Arguments = lazily(() =>
  z.strictObject({
    argv: z.array(z.string()).check(z.minLength(1)),
    cwd: z.optional(z.string().check(z.minLength(1))),
    timeout_seconds: z.optional(z.number().check(z.positive(), z.maximum(secondsMax))),
    network: z.optional(z.enum(networkChoices)),
    hosts: z.optional(z.array(z.string().check(z.minLength(1))).check(z.minLength(1), z.maxLength(hostsMax))),
  }),
)

export const runCommandTool: Tool = {
  name: "run_command",
  description:
    "Runs a program with its arguments one by one, without a shell, and returns its exit code and output. It reaches no " +
    "network, with network hosts the task's or the listed hosts, with host all of it, which the user has to approve.",
  schema: Arguments,
  required: ["argv"],
  kind: "run",
  aliases: {},
  actions: stepActions.filter(action => action !== "READ_FILE" && action !== "ANALYZE_CODE"),
  declare: (json, deps) => {
    const args = Arguments().parse(json)
    return declareCommand(deps, {
      argv: args.argv,
      cwd: args.cwd ?? ".",
      timeoutMs: args.timeout_seconds === undefined ? null : args.timeout_seconds * 1000,
      network: args.network ?? "none",
      hosts: args.hosts ?? null,
      shown: args.argv.map(shellQuoted).join(" "),
    })
  },
}

const TerminalArguments = lazily(() => z.strictObject({ command: z.string().check(z.minLength(1)) }))

export const runTerminalTool: Tool = {
  name: "run_terminal",
  description:
    "Runs a command given as one string. It is split into words without a shell: pipes, redirections, variables and " +
    "patterns are refused. Prefer run_command.",
  schema: TerminalArguments,
  required: ["command"],
  kind: "run",
  aliases: {},
  actions: [],
  declare: (json, deps) => {
    const { command } = TerminalArguments().parse(json)
    const argv = wordsOf(deps, command)
    return declareCommand(deps, {
      argv,
      cwd: ".",
      timeoutMs: null,
      network: "none",
      hosts: null,
      shown: command,
    })
  },
}

const shellOperators = /[;&|$`<>()*?[\n]/

/**
 * Splits a command line. Syntax that only a shell can run is refused as an attempt to get a shell, whatever its
 * purpose.
 */
function wordsOf(deps: ToolDeps, command: string): readonly string[] {
  try {
    return deps.splitCommand(command)
  } catch (error) {
    if (!isFailure(error, "ACODE-EXE-007") || !shellOperators.test(command)) throw error
    throw new Failure(
      {
        ...error.report,
        kind: "confinement",
        code: "ACODE-EXEC-004",
        message: `shell operators are not allowed: ${error.report.message}`,
        hint: "run the programs one by one, each with its arguments (run_command)",
      },
      { cause: error },
    )
  }
}
