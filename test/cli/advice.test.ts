import { describe, expect, test } from "bun:test"
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import ts from "typescript"
import { cliCommands } from "../../src/cli/commands/table.ts"
import { repositoryRoot, runAcode } from "../support/acode.ts"
import { commandsIn, refusalOf } from "../support/declared/advice.ts"
import { tryAdvice } from "../support/declared/advice-run.ts"
import { tempWorkspace } from "../support/workspace/temp-workspace.ts"

function filesIn(folder: string, ending: string): readonly string[] {
  return readdirSync(join(repositoryRoot, folder), { recursive: true, encoding: "utf8" })
    .filter(name => name.endsWith(ending))
    .map(name => join(folder, name))
}

interface Literal {
  readonly where: string
  /** What is filled in when the program runs stands here as a number. */
  readonly text: string
  /** The property that it is the value of. */
  readonly property: string | null
}

function literalsIn(path: string): readonly Literal[] {
  const source = ts.createSourceFile(
    path,
    readFileSync(join(repositoryRoot, path), "utf8"),
    ts.ScriptTarget.Latest,
    true,
  )
  const found: Literal[] = []
  const visit = (node: ts.Node): void => {
    const text = textOf(node)
    if (text !== null) {
      const { line } = source.getLineAndCharacterOfPosition(node.getStart(source))
      const property = ts.isPropertyAssignment(node.parent) ? node.parent.name.getText(source) : null
      found.push({ where: `${path}:${line + 1}`, text, property })
    }
    ts.forEachChild(node, visit)
  }
  visit(source)
  return found
}

const filledIn = "1000"

/** The command or the flag itself is filled in: only a run can tell whether it is one. */
function isOpen(command: string): boolean {
  return command.startsWith(`acode ${filledIn}`) || command.includes(`--${filledIn}`)
}

function textOf(node: ts.Node): string | null {
  if (ts.isStringLiteralLike(node)) return node.text
  if (!ts.isTemplateExpression(node)) return null
  return node.head.text + node.templateSpans.map(({ literal }) => `${filledIn}${literal.text}`).join("")
}

const literals = filesIn("src", ".ts").flatMap(literalsIn)

/** Whole commands, as `next` lists them. `where` is a place and no command, and the help is made of parts. */
function isWholeCommand({ text, property, where }: Literal): boolean {
  return (
    wholeCommand.test(text) &&
    property !== "where" &&
    property !== "title" &&
    !where.startsWith("src/cli/help.ts")
  )
}

const names = cliCommands.map(({ name }) => name).join("|")
const unmarked = new RegExp(`[^\`\\w=]acode (?:${names})(?![\\w-])`)
const wholeCommand = new RegExp(`^acode (?:${names})(?![\\w-])`)

/** `acode runs list|show` is two commands. */
function alternatives(command: string): readonly string[] {
  const listed = /^acode (?:(\w+) )?([a-z-]+(?:\|[a-z-]+)+)$/.exec(command)
  if (listed === null) return [command]
  const [, group, verbs = ""] = listed
  return verbs.split("|").map(verb => ["acode", ...(group === undefined ? [] : [group]), verb].join(" "))
}

/** A text may speak of a command by its name alone. */
function isName(command: string): boolean {
  return cliCommands.some(({ name }) => `acode ${name}` === command)
}

describe("a command that somebody is told to type", () => {
  test("in a message of the program is one that it takes", () => {
    const told = literals.flatMap(literal => {
      const commands = isWholeCommand(literal) ? [literal.text] : commandsIn(literal.text)
      return commands.map(command => ({ where: literal.where, command, refusal: refusalOf(command) }))
    })
    // A number that is filled in may have to be a small one.
    const isRefused = (command: string) => refusalOf(command.replaceAll(filledIn, "1")) !== null
    const wrong = told.filter(({ refusal, command }) => refusal !== null && isRefused(command))
    expect(wrong.filter(({ command }) => !isOpen(command))).toEqual([])
    expect(told.length).toBeGreaterThan(100)
  })

  test("in a message of the program is in backticks, so that it can be told from the words around it", () => {
    const bare = literals.filter(
      ({ text, property }) =>
        property !== "line" && !/^(?:→|next:) /.test(text) && unmarked.test(text.replace(/`[^`]*`/g, "")),
    )
    expect(bare.filter(literal => !isWholeCommand(literal))).toEqual([])
  })

  test("in an example of a command is one that it takes", () => {
    const lines = cliCommands.flatMap(({ examples }) => examples.map(({ line }) => line))
    const told = lines.flatMap(line =>
      line.split(/ (?:&&|\|(?= acode)) /).filter(part => part.startsWith("acode ")),
    )
    expect(told.filter(command => refusalOf(command) !== null)).toEqual([])
    expect(told.length).toBeGreaterThanOrEqual(lines.length - 2)
  })

  test("in the documentation is one that it takes", () => {
    const texts = [
      ...filesIn("docs", ".md"),
      "README.md",
      "CONTRIBUTING.md",
      "ARCHITECTURE.md",
      "CHANGELOG.md",
    ]
    const told = texts.flatMap(path => {
      const text = readFileSync(join(repositoryRoot, path), "utf8")
      const blocks = [...text.matchAll(/^(?:\$ |npx )(acode .+?)(?: {2,}#.*)?$/gm)].map(
        ([, command = ""]) => command,
      )
      return [...commandsIn(text), ...blocks].flatMap(alternatives).map(command => ({ path, command }))
    })
    const wrong = told.filter(({ command }) => !isName(command) && refusalOf(command) !== null)
    expect(wrong).toEqual([])
    expect(told.length).toBeGreaterThan(100)
  })
})

describe("a command that a run prints", () => {
  test("is typed in a copy of the workspace, and found out when it is none", async () => {
    using workspace = tempWorkspace({ files: { "a.txt": "a" } })
    const options = { cwd: workspace.root, env: workspace.environment }
    await runAcode(["exec", "--sandbox", "none", "--", "true"], options)
    const run = (told: string) => ({ exitCode: 0, signal: null, stdout: "", stderr: told })
    const tryLine = (told: string) => tryAdvice(run(told), [crypto.randomUUID()], options)
    await tryLine("  → `acode runs list` shows them; `acode config set execution.max_concurrent 3`")
    await tryLine("next: acode runs list  ·  acode runs prune --older-than 0s")
    await tryLine("`acode config set execution.max_concurrent 3`, then `acode config trust`")
    for (const wrong of [
      "  → `acode runs shwo` shows it",
      "  → `acode runs show` shows it",
      "  → `acode runs show 00000000` shows it",
      "  → `acode runs list --limit 0`",
      "next: acode runs list  ·  acode session show",
      "  → `acode config trust` trusts what is not there",
    ])
      expect(tryLine(wrong)).rejects.toThrow("which is refused: exit 2")
    expect(readdirSync(workspace.root).sort()).toEqual(["a.txt"])
    expect((await runAcode(["runs", "list", "--json"], options)).stdout).toContain('"commandLine": "true"')
  })
})
