import { isDynamic, mayBecomeOption } from "../shell/script.ts"
import { ask, askNetwork, type Layer, touch, touchOutput } from "./layer.ts"
import { type Arguments, isOption, type Operand, type Syntax, scanArguments } from "./options.ts"

/**
 * The uses of a program that are allowed without asking, as data. Everything else is asked: an unknown sub-command,
 * an option in `asked`, and, where `only` is given, any option that is not in it.
 */
export interface Usage {
  /** The role of arguments that are not options. */
  readonly operands?: OperandRole
  /** The options whose value is the next argument, separated by blanks. */
  readonly valued?: string
  /** The options that make it run, load, fetch or change something else, separated by blanks. */
  readonly asked?: string
  /** The options whose value is a file that it writes. */
  readonly writes?: string
  /** The options whose value is the output of a build. */
  readonly outputs?: string
  /** The only options that are known to be harmless. */
  readonly only?: string
  /** Real options that resemble a shortened one of `asked`. */
  readonly plain?: string
  readonly longDash?: boolean
  readonly commands?: Readonly<Record<string, Usage>>
  /** The usage without a sub-command; when left out, that is asked. */
  readonly bare?: Usage
  /** The reason why the program is always asked. */
  readonly ask?: string
  readonly network?: boolean
}

export type OperandRole =
  | "free"
  | "read"
  | "list"
  | "write"
  | "delete"
  | "createDirectory"
  | "patternThenRead"
  | "sourcesThenTarget"
  | "readThenWrite"
  | "none"

/** Judges the arguments from `from` on by the usage, and notes the paths that they name. */
export function applyUsage(layer: Layer, usage: Usage, from: number): void {
  const compiled = compile(usage)
  const args = scanArguments(layer.argv, from, compiled.syntax)
  checkOptions(layer, usage, compiled, args)
  if (usage.network === true)
    askNetwork(layer, Math.max(0, from - 1), usage.ask ?? "it needs all of the network")
  else if (usage.ask !== undefined) ask(layer, Math.max(0, from - 1), "asked-program", usage.ask)
  if (usage.commands !== undefined) applySubCommand(layer, usage, usage.commands, args, from)
  else noteOperands(layer, usage.operands ?? "free", args)
}

function applySubCommand(
  layer: Layer,
  usage: Usage,
  commands: Readonly<Record<string, Usage>>,
  args: Arguments,
  from: number,
): void {
  const [name] = args.operands
  if (name === undefined) {
    if (usage.bare === undefined) ask(layer, from, "sub-command", "it is used without a known sub-command")
    else applyUsage(layer, usage.bare, from)
    return
  }
  const sub = Object.hasOwn(commands, name.word) ? commands[name.word] : undefined
  if (sub === undefined) {
    const what = isDynamic(name.word) ? "a sub-command known only when it runs" : `"${name.word}"`
    ask(layer, name.at, "sub-command", `${what} is not one of its reading, building or testing commands`)
    return
  }
  applyUsage(layer, sub, name.at + 1)
}

function checkOptions(layer: Layer, usage: Usage, compiled: Compiled, args: Arguments): void {
  for (const option of args.options) {
    const risky = compiled.asked.find(
      name =>
        isOption(option.name, name, compiled.plain) ||
        (compiled.syntax.longDash && option.name.startsWith(name)),
    )
    if (risky !== undefined) {
      ask(layer, option.at, "option", `the option ${risky} gives it further effects`)
    } else if (compiled.only !== null && !compiled.only.has(option.name)) {
      ask(layer, option.at, "option", `the option ${option.name} is not known to be harmless`)
    }
    const made = compiled.outputs.some(name => isOption(option.name, name, compiled.plain))
    if (made && option.value !== null) touchOutput(layer, option.value, option.at)
    const written = compiled.writes.some(name => isOption(option.name, name, compiled.plain))
    if (written && option.value !== null) touch(layer, "write", option.value, option.at)
  }
  const constrained = compiled.asked.length > 0 || compiled.only !== null || usage.commands !== undefined
  for (const at of constrained ? args.vague : [])
    ask(layer, at, "dynamic-option", "an argument known only when it runs could be an option")
}

const subjects: Partial<Record<OperandRole, "read" | "list" | "write" | "delete" | "createDirectory">> = {
  read: "read",
  list: "list",
  write: "write",
  delete: "delete",
  createDirectory: "createDirectory",
}

function noteOperands(layer: Layer, role: OperandRole, args: Arguments): void {
  const { operands } = args
  const [first, ...rest] = operands
  const last = operands.at(-1)
  const note = (
    operation: "read" | "write" | "list" | "delete" | "createDirectory",
    of: readonly Operand[],
  ) => {
    for (const { word, at } of of) if (word !== "-") touch(layer, operation, word, at)
  }
  const subject = subjects[role]
  if (subject !== undefined) note(subject, operands)
  else if (role === "patternThenRead") note("read", rest)
  else if (role === "sourcesThenTarget") {
    note("read", operands.slice(0, -1))
    if (last !== undefined) note("write", [last])
  } else if (role === "readThenWrite") {
    if (first !== undefined) note("read", [first])
    note("write", rest)
  } else if (role === "none" && first !== undefined && !mayBecomeOption(first.word))
    ask(layer, first.at, "argument", `the argument "${first.word}" is not known to be harmless`)
}

interface Compiled {
  readonly syntax: Syntax
  readonly asked: readonly string[]
  readonly writes: readonly string[]
  readonly outputs: readonly string[]
  readonly only: ReadonlySet<string> | null
  readonly plain: ReadonlySet<string>
}

const compilations = new WeakMap<Usage, Compiled>()

function compile(usage: Usage): Compiled {
  const known = compilations.get(usage)
  if (known !== undefined) return known
  const words = (text: string | undefined) => (text === undefined || text === "" ? [] : text.split(" "))
  const compiled: Compiled = {
    syntax: {
      valued: new Set([...words(usage.valued), ...words(usage.writes), ...words(usage.outputs)]),
      longDash: usage.longDash ?? false,
      stops: usage.commands !== undefined,
    },
    asked: words(usage.asked),
    writes: words(usage.writes),
    outputs: words(usage.outputs),
    only: usage.only === undefined ? null : new Set([...words(usage.only), ...words(usage.writes)]),
    plain: new Set(words(usage.plain)),
  }
  compilations.set(usage, compiled)
  return compiled
}
