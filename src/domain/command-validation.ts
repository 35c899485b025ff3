import { printable } from "../base/text.ts"
import {
  type Command,
  type ExecutionOptions,
  limitRanges,
  type ResourceLimits,
  unlimited,
} from "./command.ts"
import { Failure } from "./failure.ts"
import { hostsMax, readHostPattern } from "./hosts.ts"

/** One problem of a command: the property, and the reason. */
interface CommandProblem {
  readonly property: string
  readonly message: string
}

/** Freezes a valid command; otherwise throws ACODE-EXE-007 with all problems at once. */
export function assertValidCommand(draft: Command): Command {
  const problems = commandProblems(draft)
  if (problems.length > 0) throw invalidCommand(problems)
  return Object.freeze({
    ...draft,
    arguments: Object.freeze([...draft.arguments]),
    environment: Object.freeze({ ...draft.environment }),
    resourceLimits: Object.freeze({ ...draft.resourceLimits }),
  })
}

export function invalidCommand(problems: readonly CommandProblem[]): Failure {
  const listed = problems.map(problem => `${problem.property}: ${problem.message}`).join("; ")
  return new Failure({
    kind: "usage",
    code: "ACODE-EXE-007",
    message: `the command is not valid: ${listed}`,
    where: problems.map(problem => problem.property).join(", "),
    hint: "correct the named properties; `acode exec --help` shows the accepted forms",
  })
}

/** Returns every problem that can be found without accessing the disk. Arguments may contain anything except NUL. */
export function commandProblems(draft: Command): CommandProblem[] {
  const problems: CommandProblem[] = []
  const wrong = (property: string, message: string) => problems.push({ property, message })
  if (typeof draft.executable !== "string" || draft.executable.trim() === "") wrong("executable", "is empty")
  else wrongText(draft.executable, "executable", wrong)
  draft.arguments.forEach((argument, index) => {
    if (typeof argument !== "string") wrong(`arguments[${index}]`, "is not a string")
    else wrongText(argument, `arguments[${index}]`, wrong)
  })
  if (draft.workingDirectory?.includes("\0")) wrong("workingDirectory", "contains a NUL byte")
  if (draft.workingDirectory?.trim() === "") wrong("workingDirectory", "is empty")
  for (const [name, value] of Object.entries(draft.environment)) {
    if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(name))
      wrong("environment", `"${printable(name)}" is not a variable name`)
    if (value?.includes("\0")) wrong("environment", `the value of ${printable(name)} contains a NUL byte`)
  }
  if (draft.timeoutMs !== null) wrongRange(draft.timeoutMs, "timeoutMs", wrong)
  for (const name of limitNames) {
    const limit = draft.resourceLimits[name]
    if (limit !== null) wrongRange(limit, name, wrong)
  }
  return problems
}

/** Reports text that a process would receive in another form than it was shown. */
function wrongText(text: string, property: string, wrong: (property: string, message: string) => void): void {
  if (text.includes("\0")) wrong(property, "contains a NUL byte")
  else if (!text.isWellFormed()) wrong(property, "contains a lone surrogate")
}

export function optionProblems(options: ExecutionOptions): CommandProblem[] {
  const problems: CommandProblem[] = []
  const wrong = (property: string, message: string) => problems.push({ property, message })
  if (options.timeoutMs !== undefined) wrongRange(options.timeoutMs, "timeoutMs", wrong)
  if (options.outputBytesMax !== undefined) wrongRange(options.outputBytesMax, "outputBytesMax", wrong)
  options.writable?.forEach((path, index) => {
    if (path.trim() === "") wrong(`writable[${index}]`, "is empty")
    else if (path.includes("\0")) wrong(`writable[${index}]`, "contains a NUL byte")
  })
  for (const { property, message } of hostProblems(options)) wrong(property, message)
  return problems
}

function hostProblems({ network, hosts }: ExecutionOptions): CommandProblem[] {
  if (network !== "hosts")
    return hosts === undefined
      ? []
      : [{ property: "hosts", message: `are given, but the network is ${network ?? 'not "hosts"'}` }]
  if (hosts === undefined || hosts.length === 0)
    return [{ property: "hosts", message: "are missing: name at least one that the command may reach" }]
  if (hosts.length > hostsMax)
    return [{ property: "hosts", message: `are ${hosts.length}, at most ${hostsMax} are allowed` }]
  return hosts.flatMap((text, index) => {
    const reading = readHostPattern(text)
    return "problem" in reading
      ? [{ property: `hosts[${index}]`, message: `"${printable(text)}" ${reading.problem}` }]
      : []
  })
}

const limitNames: readonly (keyof ResourceLimits)[] = [
  "memoryBytesMax",
  "processesMax",
  "cpuSecondsMax",
  "fileBytesMax",
]

function wrongRange(
  value: number,
  name: keyof typeof limitRanges,
  wrong: (property: string, message: string) => void,
): void {
  const { min, max } = limitRanges[name]
  if (!Number.isFinite(value) || value < min || value > max)
    wrong(name, `is ${value}, it must be between ${min} and ${max}`)
  else if (name !== "timeoutMs" && !Number.isInteger(value))
    wrong(name, `is ${value}, it must be a whole number`)
}

/** Starts building a command: `command("npm").withArguments("test").withTimeout(60_000).build()`. */
export function command(executable: string): CommandBuilder {
  return new CommandBuilder({
    executable,
    arguments: [],
    workingDirectory: null,
    environment: {},
    timeoutMs: null,
    resourceLimits: unlimited,
  })
}

/** Builds a command. Each `with…` returns a new builder, so a half-built command can be shared and varied. */
class CommandBuilder {
  constructor(private readonly draft: Command) {}

  withArguments(...more: readonly string[]): CommandBuilder {
    return this.changed({ arguments: [...this.draft.arguments, ...more] })
  }

  /** Sets variables; null removes a variable. Later calls win. */
  withEnvironment(variables: Readonly<Record<string, string | null>>): CommandBuilder {
    return this.changed({ environment: { ...this.draft.environment, ...variables } })
  }

  withTimeout(timeoutMs: number): CommandBuilder {
    return this.changed({ timeoutMs })
  }

  withWorkingDirectory(workingDirectory: string): CommandBuilder {
    return this.changed({ workingDirectory })
  }

  withLimits(limits: Partial<ResourceLimits>): CommandBuilder {
    return this.changed({ resourceLimits: { ...this.draft.resourceLimits, ...limits } })
  }

  /** Validates and freezes the command. Throws one Failure that lists all problems. */
  build(): Command {
    return assertValidCommand(this.draft)
  }

  private changed(change: Partial<Command>): CommandBuilder {
    return new CommandBuilder({ ...this.draft, ...change })
  }
}
