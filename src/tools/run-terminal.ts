import * as z from "zod/mini"
import { lazily } from "../base/lazy.ts"
import { Failure } from "../domain/failure.ts"
import { declareCommand } from "./command-call.ts"
import type { Tool, ToolRoom } from "./contract.ts"
import { isFailure } from "./file-state.ts"

const Arguments = lazily(() => z.strictObject({ command: z.string().check(z.minLength(1)) }))

export const runTerminalTool: Tool = {
  name: "run_terminal",
  description:
    "Runs a command given as one string. It is split into words without a shell: pipes, redirections, variables and " +
    "patterns are refused. Prefer run_command.",
  schema: Arguments,
  required: ["command"],
  declare: (json, room) => {
    const { command } = Arguments().parse(json)
    const argv = wordsOf(room, command)
    return declareCommand(room, {
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

/** What only a shell could do is an attempt to get one, whether or not it was meant so. */
function wordsOf(room: ToolRoom, command: string): readonly string[] {
  try {
    return room.splitCommand(command)
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
