import { marks } from "../shell/script.ts"
import { ask, type Layer, never } from "./layer.ts"
import { type Arguments, type Operand, type Syntax, scanArguments, syntaxOf } from "./options.ts"

/** The start of a wrapper: another program, or a string for a shell. */
export type Inner =
  | { readonly kind: "argv"; readonly argv: readonly string[]; readonly offset: number }
  | { readonly kind: "script"; readonly text: string; readonly offset: number }

interface Wrapper {
  /** The names of the wrappers, separated by blanks. */
  readonly programs: string
  readonly valued?: string
  /** The options without value that change nothing about the started program. */
  readonly flags?: string
  /** The number of its own operands before the program that it starts. */
  readonly operands?: number
  /** Set when `NAME=value` may precede the program. */
  readonly assigns?: boolean
  /** The reason why it is asked, whatever it starts. */
  readonly ask?: string
  /** Set when the started program gets more arguments at run time. */
  readonly appends?: boolean
  /** Set when the remaining arguments are joined and passed to a shell. */
  readonly joins?: boolean
  /** The option whose value is a script. */
  readonly script?: string
}

const wrappers: readonly Wrapper[] = [
  { programs: "nohup chronic unbuffer setarch linux64 catchsegv fakeroot" },
  { programs: "time gtime", valued: "-f -o --format --output", flags: "-p -v -a -l --portability --verbose" },
  { programs: "nice", valued: "-n --adjustment", flags: "-0 -1 -2 -3 -4 -5 -6 -7 -8 -9" },
  { programs: "ionice", valued: "-c -n --class --classdata", flags: "-t --ignore" },
  { programs: "setsid", flags: "-w -f -c --wait --fork --ctty" },
  { programs: "stdbuf", valued: "-i -o -e --input --output --error" },
  {
    programs: "timeout gtimeout",
    valued: "-s -k --signal --kill-after",
    flags: "-v --preserve-status --foreground --verbose",
    operands: 1,
  },
  { programs: "taskset", flags: "-c --cpu-list", operands: 1 },
  {
    programs: "env genv",
    valued: "-u --unset",
    flags: "-i - -0 -v --ignore-environment --null --debug",
    assigns: true,
  },
  { programs: "cross-env cross-env-shell", assigns: true },
  { programs: "dotenv dotenvx direnv", valued: "-e -f", ask: "it loads variables from a file" },
  {
    programs: "xargs gxargs",
    valued: "-n -P -L -s -d -E --max-args --max-procs --max-lines --delimiter --eof",
    flags: "-0 -r -t -x --null --no-run-if-empty --verbose --exit -o",
    appends: true,
  },
  { programs: "c8 nyc", valued: "-r --reporter", flags: "--all --check-coverage" },
  {
    programs: "sudo doas pkexec",
    valued: "-u -g -U -C -p -h -D",
    flags: "-n -E -H -S -k -i -s -b",
    assigns: true,
    ask: "it raises privileges",
  },
  { programs: "su runuser", valued: "-s -g -G", script: "-c", ask: "it becomes another user" },
  { programs: "chroot", operands: 1, ask: "it changes the root of the file system" },
  {
    programs: "unshare nsenter systemd-run setpriv capsh firejail bwrap",
    ask: "it changes the confinement of a program",
  },
  {
    programs: "strace ltrace valgrind perf gdbserver rr",
    valued: "-o -e -p -s",
    flags: "-f -c -q -tt -T -v",
    ask: "it observes and can control another program",
  },
  { programs: "flock", valued: "-w -E --timeout", flags: "-n -x -s -e -u -o", operands: 1, script: "-c" },
  {
    programs: "watch",
    valued: "-n --interval",
    flags: "-d -t -b -e -g -c -p",
    joins: true,
    ask: "it repeats forever",
  },
  { programs: "entr reflex nodemon chokidar onchange", joins: true, ask: "it repeats forever" },
  { programs: "parallel sem", joins: true, appends: true, ask: "it builds commands from its input" },
  {
    programs: "script",
    valued: "-T -B -I -O -E -o -m",
    flags: "-q -e -a -f -r",
    script: "-c",
    operands: 9,
    ask: "it records a terminal",
  },
  { programs: "busybox toybox" },
  {
    programs: "concurrently npm-run-all run-s run-p start-server-and-test",
    ask: "it runs its arguments as commands",
  },
]

const table = new Map(wrappers.flatMap(wrapper => wrapper.programs.split(" ").map(name => [name, wrapper])))
const syntaxes = new Map(wrappers.map(wrapper => [wrapper, wrapperSyntax(wrapper)]))

export function isWrapper(name: string): boolean {
  return table.has(name)
}

/** The assignments that a wrapper makes for the program that it starts. */
export interface Unwrapped {
  readonly inner: readonly Inner[]
  readonly assignments: readonly Operand[]
  /** Set when its own arguments could not be distinguished from the program that it starts. */
  readonly isUnclear: boolean
}

/** Finds the program that a wrapper starts. An unknown option makes that unclear, which is asked. */
export function unwrap(layer: Layer, name: string): Unwrapped {
  const wrapper = table.get(name)
  const syntax = wrapper === undefined ? undefined : syntaxes.get(wrapper)
  if (wrapper === undefined || syntax === undefined) return { inner: [], assignments: [], isUnclear: true }
  layer.rule = "commands.wrapper"
  if (wrapper.ask !== undefined) ask(layer, 0, "wrapper", wrapper.ask)
  const args = scanArguments(layer.argv, 1, syntax)
  const unknown = unknownOption(layer, wrapper, args)
  const split = splitString(layer, name, args)
  if (split !== null) return { inner: split, assignments: [], isUnclear: false }
  const own = args.operands.slice(wrapper.operands ?? 0)
  const first = wrapper.assigns === true ? own.findIndex(operand => !/^\w+=/.test(operand.word)) : 0
  const assignments = wrapper.assigns === true ? own.slice(0, first < 0 ? own.length : first) : []
  const inner = [
    ...scriptOf(wrapper, args),
    ...programOf(layer, wrapper, args, first < 0 ? undefined : own[first]),
  ]
  return { inner, assignments, isUnclear: unknown }
}

function wrapperSyntax(wrapper: Wrapper): Syntax {
  const extra = wrapper.appends === true ? " -I -i -J -a --replace --arg-file" : ""
  const script = wrapper.script === undefined ? "" : ` ${wrapper.script}`
  return syntaxOf(`${wrapper.valued ?? ""}${script}${extra}`.trim(), { stops: true })
}

function unknownOption(layer: Layer, wrapper: Wrapper, args: Arguments): boolean {
  const flags = (wrapper.flags ?? "").split(" ")
  let found = args.vague.length > 0
  for (const option of args.options) {
    const isKnown =
      flags.includes(option.name) ||
      wrapper.valued?.split(" ").includes(option.name) === true ||
      option.name === wrapper.script ||
      (wrapper.appends === true && /^(-[Iia]|--replace|--arg-file)$/.test(option.name)) ||
      /^--(version|help)$/.test(option.name)
    if (isKnown || /^(-S|--split-string)$/.test(option.name)) continue
    ask(layer, option.at, "option", `the option ${option.name} hides the program that it starts`)
    found = true
  }
  if (args.vague.length > 0)
    ask(layer, args.vague[0] ?? 0, "dynamic-option", "an argument hides the program that it starts")
  return found
}

/** Splits the argument of `env -S "a b"`, which has its own quoting rules. */
function splitString(layer: Layer, name: string, args: Arguments): Inner[] | null {
  if (!/^g?env$/.test(name)) return null
  const option = args.options.find(({ name: typed }) => typed === "-S" || typed.startsWith("--split"))
  if (option === undefined) return null
  never(layer, "hidden-program", "env -S hides the program it starts inside a string", option.at)
  return []
}

function scriptOf(wrapper: Wrapper, args: Arguments): Inner[] {
  return args.options
    .filter(option => wrapper.script !== undefined && option.name === wrapper.script)
    .map(option => ({ kind: "script", text: option.value ?? "", offset: option.at + 1 }))
}

function programOf(layer: Layer, wrapper: Wrapper, args: Arguments, first: Operand | undefined): Inner[] {
  if (first === undefined) return []
  // `flock FILE -c SCRIPT`: the option follows the operand.
  if (first.word === wrapper.script)
    return [{ kind: "script", text: layer.argv[first.at + 1] ?? "", offset: first.at + 1 }]
  const rest = layer.argv.slice(first.at)
  const replaced = args.options.find(({ name }) => /^(-[IJi]|--replace)$/.test(name))
  const pattern = replaced === undefined ? "{}" : (replaced.value ?? "{}")
  const filled = wrapper.appends === true ? rest.map(word => word.replaceAll(pattern, marks.unknown)) : rest
  const argv = wrapper.appends === true && replaced === undefined ? [...filled, marks.splitting] : filled
  if (wrapper.joins !== true) return [{ kind: "argv", argv, offset: first.at }]
  return [{ kind: "script", text: argv.join(" "), offset: first.at }]
}
