import { z } from "zod"
import type { ConfiguredCommands } from "../../domain/command.ts"
import { Failure } from "../../domain/failure.ts"
import { commandWords } from "../../exec/words.ts"
import { defaultConfig } from "../defaults.ts"

const defaults = defaultConfig.commands

/** Returns the `commands:` section: the commands that set up, build and check the project. */
export function commandsSection() {
  return z
    .strictObject({
      setup: command("setup", "Prepares a fresh checkout."),
      build: command(
        "build",
        "Builds the project; also the check of the criterion `diagnostics` where no `lint` is configured.",
      ),
      test: command(
        "test",
        "Runs the tests. Every verification runs this command; without one acode finds the test command from the files.",
      ),
      lint: command(
        "lint",
        "Finds errors in the code: the check of the criterion `diagnostics`, instead of the compilers and type checkers that acode finds.",
      ),
      format: command("format", "Formats the code."),
      start: command("start", "Starts the program."),
    })
    .prefault({})
    .describe("Commands of the project, as a list of arguments or as a string that is split without a shell.")
}

type CommandsSection = z.output<ReturnType<typeof commandsSection>>

/** Returns the configured commands as lists of arguments. */
export function toProjectCommands({ commands }: { readonly commands: CommandsSection }): ConfiguredCommands {
  const { setup, build, test, lint, format, start } = commands
  return {
    setup: words(setup),
    build: words(build),
    test: words(test),
    lint: words(lint),
    format: words(format),
    start: words(start),
  }
}

function command(name: keyof typeof defaults, description: string) {
  const text = z
    .string()
    .min(1)
    .max(1000)
    .superRefine((line, context) => {
      const problem = problemOf(line)
      if (problem !== null) context.addIssue({ code: "custom", message: problem, input: line })
    })
    .describe("a command such as npm test")
  const list = z.array(z.string().max(1000).describe("an argument")).min(1).max(100)
  return z.union([z.null(), text, list]).default(defaults[name]).describe(description)
}

/** Returns the reason why a text cannot be split into arguments without a shell, or null when it can. */
function problemOf(line: string): string | null {
  try {
    commandWords(line)
    return null
  } catch (error) {
    if (!(error instanceof Failure)) throw error
    return `${error.report.message}; write it as a list of arguments`
  }
}

function words(value: CommandsSection["test"]): readonly string[] | null {
  return typeof value === "string" ? commandWords(value) : value
}
