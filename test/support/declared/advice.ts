import { cliCommands } from "../../../src/cli/commands/table.ts"
import { parseLine } from "../../../src/cli/parse/parse.ts"
import { Failure } from "../../../src/domain/failure.ts"

/** Returns the commands that a text advises: in backticks, or alone after an arrow or `next`. */
export function commandsIn(text: string): readonly string[] {
  const quoted = [...text.matchAll(/`((?:[A-Z_]+=\S+ )?acode [^`\n]+)`/g)].map(([, command = ""]) => command)
  const listed = [...text.matchAll(/^ *(?:→|next:?) +(acode [^`\n]+)$/gm)].flatMap(([, line = ""]) =>
    line.split("  ·  "),
  )
  return [...quoted, ...listed]
}

/** The command that a text wants to be typed before this one: `…`, then `…`. */
export function commandBefore(text: string, command: string): string | null {
  const before = text.slice(0, text.indexOf(`\`${command}\``))
  return /`(acode [^`\n]+)`[^`\n]*\bthen $/.exec(before)?.[1] ?? null
}

/** Words that stand for something else, as help writes them, and what a person might type in their place. */
const placeholders: Readonly<Record<string, string>> = {
  COMMAND: "exec",
  DIR: ".",
  FILE: "plan.json",
  GOAL: "a goal",
  ID: "3f2a91bc",
  KEY: "execution.max_concurrent",
  N: "1000",
  NAME: "some-model",
  PATH: "src/a.ts",
  PROGRAM: "true",
  SECONDS: "60",
  TEXT: "a reason",
  VALUE: "4",
}

/** Returns why the program does not accept a command as it is printed; null when it does. Nothing is run. */
export function refusalOf(command: string): string | null {
  const words = wordsOf(command)
  const at = words.indexOf("acode")
  try {
    const { command: found, globals } = parseLine(words.slice(at + 1).map(filledIn), cliCommands)
    return found === null && !globals.help && !globals.version ? "it names no command" : null
  } catch (error) {
    if (error instanceof Failure) return error.report.message
    throw error
  }
}

export function hasPlaceholder(command: string): boolean {
  return filledIn(command) !== command
}

function filledIn(word: string): string {
  return word.replace(/\b[A-Z]+\b/g, name => placeholders[name] ?? name)
}

/** Returns the words up to where a shell would begin something else. */
function wordsOf(command: string): readonly string[] {
  const found = command.matchAll(/"([^"]*)"|'([^']*)'|([^\s"'|<>&;]+)|([|<>&;])/g)
  const words: string[] = []
  for (const [, double, single, bare, operator] of found) {
    if (operator !== undefined) break
    words.push(double ?? single ?? bare ?? "")
  }
  return words
}
