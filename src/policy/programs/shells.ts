import { isDynamic } from "../shell/script.ts"
import { ask, type Layer, never, touch } from "./layer.ts"
import { scanArguments, syntaxOf } from "./options.ts"
import type { Inner } from "./wrappers.ts"

const readableShells = new Set("sh bash dash ash ksh mksh rbash zsh".split(" "))
const otherShells = new Set("fish csh tcsh elvish nu xonsh rc es".split(" "))
const codeReaders = new Set(
  "python python2 python3 node nodejs perl ruby php lua Rscript deno bun".split(" "),
)

/** The standard input of a program. */
export interface Input {
  /** Set when another program writes it. */
  readonly isFed: boolean
  /** The here-document or here-string, when all of it is known. */
  readonly text: string | null
}

export const noInput: Input = { isFed: false, text: null }

export function isShell(name: string): boolean {
  return readableShells.has(name) || otherShells.has(name)
}

const shellSyntax = syntaxOf("-o -O --rcfile --init-file", { stops: true })

/** Returns what a shell would run: the string of `-c`, the text on its input, or a file. */
export function unwrapShell(layer: Layer, name: string, input: Input): Inner[] {
  layer.rule = "commands.shell"
  if (otherShells.has(name)) {
    never(layer, "unreadable-script", `the input of ${name} is not a language that acode can read`)
    return []
  }
  if (name === "zsh") ask(layer, 0, "shell", "zsh reads some syntax differently")
  const args = scanArguments(layer.argv, 1, shellSyntax)
  for (const option of args.options)
    if (!/^(-[cefuxvnlsibhom]|-O|--(norc|noprofile|posix|login|version|help))$/.test(option.name))
      ask(layer, option.at, "option", `the option ${option.name} of ${name}`)
  if (args.options.some(option => option.name === "--version")) return []
  const isString = args.options.some(option => option.name === "-c")
  const [first] = args.operands
  if (isString) {
    if (first === undefined) never(layer, "unreadable-script", "the script is missing")
    return first === undefined ? [] : [{ kind: "script", text: first.word, offset: first.at }]
  }
  const readsInput = first === undefined || args.options.some(option => option.name === "-s")
  if (readsInput || isInputFile(first.word)) return unwrapInput(layer, input)
  if (isDynamic(first.word)) never(layer, "hidden-program", "the script it runs is known only when it runs")
  else touch(layer, "read", first.word, first.at)
  ask(layer, first.at, "run-file", `it runs ${first.word}`)
  return []
}

function isInputFile(word: string): boolean {
  return word === "-" || /^\/(dev\/(stdin|fd\/\d+)|proc\/.*)$/.test(word)
}

function unwrapInput(layer: Layer, input: Input): Inner[] {
  if (input.text !== null && !isDynamic(input.text))
    return [{ kind: "script", text: input.text, offset: layer.argv.length }]
  if (input.isFed || input.text !== null)
    never(layer, "piped-script", "it runs the output of another program, which cannot be read beforehand")
  else ask(layer, 0, "shell", "it runs its input")
  return []
}

/** Asks about interpreters other than shells that would run code from a pipe. */
export function checkPipedCode(layer: Layer, name: string, input: Input): void {
  if (!codeReaders.has(name) || !input.isFed) return
  const rest = layer.argv.slice(1)
  const operand = rest.find(word => !word.startsWith("-") || word === "-")
  const hasCode = rest.some(word => /^-[a-zA-Z]*[cemEp]$|^--(eval|print|test|check|version)/.test(word))
  if (!hasCode && (operand === undefined || isInputFile(operand)))
    never(layer, "piped-script", "it runs the output of another program, which cannot be read beforehand")
}
