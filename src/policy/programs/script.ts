import { posix } from "node:path"
import {
  deceivingCharacter,
  isDynamic,
  marks,
  type ParsedCommand,
  type ParsedScript,
  type ShellParser,
} from "../shell/script.ts"
import { type Analyst, analyseProgram, isKnownName } from "./analysis.ts"
import { checkAssignment, hasHiddenCommand } from "./environment.ts"
import { ask, type Layer, never, newLayer, touch } from "./layer.ts"
import { isDevice } from "./never-allowed.ts"
import { type CommandContext, relativeTo, resolveWord } from "./paths.ts"
import type { Input } from "./shells.ts"

const scriptsMax = 16
const directoriesMax = 8

export interface Analysis {
  readonly layers: readonly Layer[]
  /** The directories in which later commands may run. */
  readonly scene: CommandContext
}

/**
 * Analyses every program of a command line: its name, the programs that it starts in turn, and the paths that it
 * touches.
 */
export function analyseArgv(
  argv: readonly string[],
  scene: CommandContext,
  parser: ShellParser | null,
): Analysis {
  const analyst = newAnalyst(scene, parser)
  const layer = analyseProgram(analyst, argv, null)
  for (const [at, word] of argv.entries())
    if (deceivingCharacter(word) !== null)
      ask(layer, at, "deceiving-text", "an argument contains characters that hide its content")
  return analyst
}

export function analyseScript(text: string, scene: CommandContext, parser: ShellParser | null): Analysis {
  const analyst = newAnalyst(scene, parser)
  analyst.readScript(text, null, "sh")
  return analyst
}

function newAnalyst(scene: CommandContext, parser: ShellParser | null): Analyst {
  let scripts = 0
  const analyst: Analyst = {
    scene,
    layers: [],
    functions: new Set(),
    readScript(text, outer, shell) {
      scripts += 1
      const holder = outer?.layer ?? newLayer([], null)
      if (outer === null) analyst.layers.push(holder)
      const parsed = parser?.parse(text) ?? { readable: false, reason: "no shell parser is loaded" }
      if (isDynamic(text) || text.includes(marks.home))
        never(holder, "hidden-program", "the script it runs is known only when it runs")
      else if (scripts > scriptsMax) never(holder, "malformed", "too many scripts run scripts")
      else if (!parsed.readable)
        never(holder, "unreadable-script", `the script cannot be read: ${parsed.reason}`)
      else readCommands(analyst, parsed, { outer, holder, shell })
    },
  }
  return analyst
}

interface ScriptPlace {
  readonly outer: Layer["outer"]
  /** Holds the findings about the script as a whole. */
  readonly holder: Layer
  readonly shell: string
}

function readCommands(analyst: Analyst, script: ParsedScript & { readable: true }, place: ScriptPlace): void {
  if (place.outer === null) place.holder.rule = "commands.shell"
  if (script.bashOnly !== null) {
    const reason = `${script.bashOnly} has a different meaning in different shells`
    if (place.shell === "bash") ask(place.holder, place.holder.argv.length, "shell", reason)
    else never(place.holder, "unreadable-script", reason)
  }
  for (const name of script.functionNames)
    if (isKnownName(name) || builtins.has(name))
      never(place.holder, "hidden-program", `${name} gets another meaning`)
  // A relative `cd` in a loop can lead anywhere before the first command of the loop runs again.
  if (script.commands.some(command => command.repeated && /^(cd|pushd)$/.test(command.words[0] ?? "")))
    analyst.scene = { ...analyst.scene, directories: null }
  const outside = analyst.functions
  for (const [index, command] of script.commands.entries()) {
    const defined = script.functions.filter(({ before }) => index >= before).map(({ name }) => name)
    analyst.functions = new Set(defined)
    readOne(analyst, command, place)
  }
  analyst.functions = outside
}

function readOne(analyst: Analyst, command: ParsedCommand, place: ScriptPlace): void {
  const layer = layerFor(analyst, command, place)
  for (const assignment of command.assignments) {
    if (assignment.name === "HOME" || assignment.name === "CDPATH")
      never(layer, "hidden-program", `after setting ${assignment.name} paths have another meaning`)
    checkAssignment(layer, assignment, layer.argv.length)
  }
  noteRedirects(layer, command)
  const [name] = command.words
  if (name === undefined) return
  if (command.functions.includes(name)) never(layer, "fork-bomb", `${name} starts itself endlessly`)
  if (name === "cd" || name === "pushd") changeDirectory(analyst, layer, command)
  if (name === "read" || name === "getopts")
    for (const [at, word] of command.words.entries())
      if (at > 0 && !word.startsWith("-")) checkAssignment(layer, { name: word, value: "" }, at)
  if (evaluating.has(name) && command.words.some(hasHiddenCommand))
    never(layer, "hidden-program", "a subscript hides a command")
}

const evaluating = new Set("[ test let printf read unset export declare typeset local readonly".split(" "))

function layerFor(analyst: Analyst, command: ParsedCommand, place: ScriptPlace): Layer {
  const { words } = command
  if (words.length === 0) {
    const layer = newLayer([], place.outer)
    layer.rule = "commands.shell"
    analyst.layers.push(layer)
    return layer
  }
  const builtin = builtins.get(words[0] ?? "")
  if (builtin === undefined) return analyseProgram(analyst, words, place.outer, inputOf(command))
  const layer = newLayer(words, place.outer)
  layer.rule = "commands.shell"
  analyst.layers.push(layer)
  builtin(analyst, layer, inputOf(command))
  return layer
}

function inputOf(command: ParsedCommand): Input {
  const texts = command.redirects.filter(redirect => redirect.kind === "text")
  const isFile = command.redirects.some(
    ({ kind, ...rest }) => kind === "file" && "operator" in rest && rest.operator === "<",
  )
  return { isFed: command.fedBy.length > 0 || isFile, text: texts.at(-1)?.body ?? null }
}

function noteRedirects(layer: Layer, command: ParsedCommand): void {
  const at = Math.max(0, layer.argv.length - 1)
  for (const redirect of command.redirects) {
    if (redirect.kind !== "file") continue
    const { operator, target } = redirect
    if (/^\/dev\/(tcp|udp)\//.test(target)) never(layer, "hidden-program", "it opens a connection as a file")
    else if (operator === "<") touch(layer, "read", target, at)
    else if (isDevice(target)) never(layer, "destroys-disk", "it writes to a device")
    else if (!/^\/dev\//.test(target)) touch(layer, "write", target, layer.argv.length)
  }
}

/** Adds a directory: from here on a command may run in either, depending on what happens at run time. */
function changeDirectory(analyst: Analyst, layer: Layer, command: ParsedCommand): void {
  const target = command.words.slice(1).find(word => !/^-[LPe@]+$/.test(word))
  const { root, directories } = analyst.scene
  const found = target === undefined || target === "-" ? null : resolveWord(target, analyst.scene)
  const outside = found?.some(path => relativeTo(root, path) === null) ?? true
  if (outside) ask(layer, 1, "directory", "it leaves the workspace, or its target is unknown")
  const unknown = found === null || directories === null
  const all = unknown ? [] : [...new Set([...directories, ...found.map(path => posix.normalize(path))])]
  analyst.scene = { ...analyst.scene, directories: unknown || all.length > directoriesMax ? null : all }
}

type Builtin = (analyst: Analyst, layer: Layer, input: Input) => void

const nothing: Builtin = () => undefined

/** Starts the arguments from the first operand on, as they would start without the builtin. */
function startRest(skipOptions: RegExp): Builtin {
  return (analyst, layer, input) => {
    const at = layer.argv.findIndex((word, index) => index > 0 && !skipOptions.test(word))
    if (at < 0) return
    analyseProgram(analyst, layer.argv.slice(at), { layer, offset: at, by: "argv" }, input)
  }
}

const lookUp: Builtin = (analyst, layer, input) => {
  if (/^-[vV]$/.test(layer.argv[1] ?? "")) return
  startRest(/^-p$/)(analyst, layer, input)
}

const source: Builtin = (_analyst, layer) => {
  const file = layer.argv[1] ?? ""
  if (isDynamic(file) || file === "" || /^\/(dev|proc)\//.test(file))
    never(layer, "hidden-program", "the script it reads is known only when it runs")
  else touch(layer, "read", file, 1)
  ask(layer, 1, "run-file", `it runs ${file} in the same shell`)
}

const trap: Builtin = (analyst, layer) => {
  const at = layer.argv[1] === "--" ? 2 : 1
  const text = layer.argv[at] ?? "-"
  if (layer.argv.length <= at + 1 || text === "-" || text === "") return
  analyst.readScript(text, { layer, offset: at, by: "script" }, "sh")
}

const set: Builtin = (_analyst, layer) => {
  for (const [at, word] of layer.argv.entries())
    if (at > 0 && /^[-+]/.test(word) && !/^[-+]([euxvfCnao]+)$|^--$/.test(word))
      ask(layer, at, "shell", `set ${word}`)
}

const declare: Builtin = (_analyst, layer) => ask(layer, 0, "shell", "it can give a name to another variable")

const builtins: ReadonlyMap<string, Builtin> = new Map<string, Builtin>([
  ...": true false cd pushd popd dirs pwd read export readonly local unset shift exit return break continue wait umask times getopts type let ulimit"
    .split(" ")
    .map((name): [string, Builtin] => [name, nothing]),
  ["declare", declare],
  ["typeset", declare],
  ["command", lookUp],
  ["builtin", startRest(/^$/)],
  ["exec", startRest(/^-[cl]+$/)],
  ["source", source],
  [".", source],
  ["trap", trap],
  ["set", set],
])
