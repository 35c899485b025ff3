import { isDynamic } from "../shell/script.ts"
import { ask, type Layer, touch } from "./layer.ts"
import { hasOption, type Option, scanArguments, syntaxOf } from "./options.ts"

const sedSyntax = syntaxOf("-e -f -l -L --expression --file --line-length")
const sedHarmless =
  /^(-[nEruszle]|--(quiet|silent|regexp-extended|separate|null-data|unbuffered|posix|sandbox|debug|expression|version|help))$/

/** Judges sed. A script that only prints and substitutes passes; `e`, `w`, `-f` and unknown commands are asked. */
export function judgeSed(layer: Layer): void {
  const args = scanArguments(layer.argv, 1, sedSyntax)
  const inPlace = hasOption(args, ["-i", "--in-place"])
  const scripts = args.options.filter(option => /^(-e|--expression)$/.test(option.name))
  const [first, ...files] = args.operands
  const hasScript = scripts.length > 0 || hasOption(args, ["-f", "--file"])
  if (!hasScript && first !== undefined) judgeSedScript(layer, first.word, first.at)
  for (const { value, at } of scripts) judgeSedScript(layer, value ?? "", at)
  for (const option of args.options) judgeSedOption(layer, option, inPlace)
  for (const { word, at } of hasScript ? args.operands : files)
    touch(layer, inPlace ? "write" : "read", word, at)
  for (const at of args.vague)
    ask(layer, at, "dynamic-option", "an argument known only when it runs could be an option")
}

function judgeSedOption(layer: Layer, option: Option, inPlace: boolean): void {
  // `-i.bak` reads as a cluster; the letters after it are a suffix and not options.
  if (option.name === "-i" || option.name === "--in-place" || sedHarmless.test(option.name)) return
  if (inPlace && /^-i./.test(layer.argv[option.at] ?? "")) return
  ask(layer, option.at, "option", `the option ${option.name} of sed`)
}

function judgeSedScript(layer: Layer, script: string, at: number): void {
  if (!isPlainSedScript(script))
    ask(layer, at, "inline-code", "the sed script may run commands or write files")
}

const sedAddress = String.raw`(?:\d+~\d+|\d+|\$|\/(?:[^\/\\\n]|\\[^\n])*\/[IM]*)`
const sedStart = new RegExp(String.raw`^[\s;]*(?:${sedAddress}(?:\s*,\s*[+~]?${sedAddress})?)?\s*!?\s*`)

/** Reports whether the script has only addresses and commands that print, delete from the output, or substitute. */
function isPlainSedScript(script: string): boolean {
  if (isDynamic(script)) return false
  let rest = script
  for (let count = 0; count < 50; count++) {
    rest = rest.slice(sedStart.exec(rest)?.[0].length ?? 0)
    if (rest === "") return true
    const length = rest[0] === "s" || rest[0] === "y" ? substitutionLength(rest) : simpleLength(rest)
    if (length === null) return false
    rest = rest.slice(length)
    if (rest !== "" && !/^\s*[;\n}]/.test(rest)) return false
    rest = rest.replace(/^\s*}/, "")
  }
  return false
}

function simpleLength(rest: string): number | null {
  return /^(?:[pPdDnNgGhHxz=l{]|[qQ]\d*)/.exec(rest)?.[0].length ?? null
}

/** Returns the length of `s/a/b/flags`, or null where a flag runs (`e`) or writes (`w`). */
function substitutionLength(rest: string): number | null {
  const delimiter = rest[1]
  if (delimiter === undefined || /[\\\n\s]/.test(delimiter)) return null
  let seen = 0
  let index = 2
  for (; index < rest.length && seen < 2; index++) {
    if (rest[index] === "\\") index += 1
    else if (rest[index] === delimiter) seen += 1
  }
  if (seen < 2) return null
  // Implementations differ on whether a delimiter inside `[…]` ends the pattern.
  const pattern = rest.slice(2, index).split(delimiter)
  if (pattern.some(part => (part.match(/\[/g)?.length ?? 0) !== (part.match(/\]/g)?.length ?? 0))) return null
  const flags = /^[gpiIm0-9]*/.exec(rest.slice(index))?.[0].length ?? 0
  const next = rest[index + flags]
  return next === undefined || /[\s;}]/.test(next) ? index + flags : null
}

const awkSyntax = syntaxOf("-F -v -f -e -i -l -E --field-separator --assign --file --source", { stops: true })

/** Judges awk. A program without redirections, pipes and calls of other programs passes. */
export function judgeAwk(layer: Layer): void {
  const args = scanArguments(layer.argv, 1, awkSyntax)
  for (const option of args.options)
    if (!/^(-F|-v|--field-separator|--assign|--version|--help|--posix|--re-interval)$/.test(option.name))
      ask(layer, option.at, "inline-code", `the option ${option.name} of awk loads code`)
  const [program, ...files] = args.operands
  for (const at of args.vague)
    ask(layer, at, "dynamic-option", "an argument known only when it runs could be an option")
  if (program === undefined) return
  const calls = /\b(system|getline|close|fflush|strftime|mktime)\b|[|>@]/
  if (isDynamic(program.word) || calls.test(program.word.replaceAll("||", "").replaceAll(">=", "")))
    ask(layer, program.at, "inline-code", "the awk program may run commands or write files")
  for (const { word, at } of files) touch(layer, "read", word, at)
}
