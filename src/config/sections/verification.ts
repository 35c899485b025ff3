import { z } from "zod"
import type { ConfiguredCommands } from "../../domain/command.ts"
import { Failure } from "../../domain/failure.ts"
import { commandWords } from "../../exec/words.ts"
import { defaultConfig } from "../defaults.ts"

const defaults = defaultConfig.commands

/** The `commands:` section: how the project sets itself up, builds and checks itself. */
export function commandsSection() {
  return z
    .strictObject({
      setup: command("setup", "Prepares a fresh checkout."),
      build: command("build", "Builds; it checks `diagnostics` where no `lint` is configured."),
      test: command(
        "test",
        "Runs the tests. Every verification runs it; without it acode looks at the files.",
      ),
      lint: command("lint", "Looks for mistakes: what the criterion `diagnostics` runs."),
      format: command("format", "Formats the code."),
      start: command("start", "Starts the program."),
    })
    .prefault({})
    .describe("Commands of the project, as a list of arguments or as text that is split without a shell.")
}

type CommandsSection = z.output<ReturnType<typeof commandsSection>>

/** The commands in force, as arguments. */
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

/** Why a text is no command without a shell; null when it is one. */
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
