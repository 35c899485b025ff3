import type { ArgumentSpec, CliCommand } from "./definition.ts"
import { type FlagSpec, type FlagSpecs, globalFlags } from "./parse/flags.ts"

/** Returns the help for the whole program, or for the commands of one group like `runs`. */
export function renderOverview(commands: readonly CliCommand[], group: string | null): string {
  const shown = group === null ? commands : commands.filter(command => command.name.startsWith(`${group} `))
  const width = Math.max(...shown.map(command => command.name.length))
  const rows = shown.map(command => `  ${command.name.padEnd(width)}  ${command.summary}`)
  const title =
    group === null ? "acode — run programs on your repository, confined and recorded" : `acode ${group}`
  return [
    title,
    "",
    `Usage: acode ${group === null ? "" : `${group} `}COMMAND [flags]`,
    "",
    "Commands:",
    ...rows,
    "",
    "Global flags:",
    ...flagRows(globalFlags),
    "",
    `\`acode ${group === null ? "" : `${group} `}COMMAND --help\` shows examples.`,
    "",
  ].join("\n")
}

export function renderHelp(command: CliCommand): string {
  const sections = [`acode ${command.name} — ${command.summary}`, "", `Usage: ${usageLine(command)}`]
  if (command.description !== undefined) sections.push("", command.description)
  if (command.arguments.length > 0) sections.push("", "Arguments:", ...argumentRows(command.arguments))
  if (Object.keys(command.flags).length > 0) sections.push("", "Flags:", ...flagRows(command.flags))
  sections.push(
    "",
    "Examples:",
    ...command.examples.map(example => `  ${example.line}\n      ${example.note}`),
  )
  return `${sections.join("\n")}\n`
}

export function usageLine(command: CliCommand): string {
  const flags = Object.keys(command.flags).length > 0 ? " [flags]" : ""
  if (command.passthrough)
    return `acode ${command.name}${flags} [--] PROGRAM ARGS…  |  acode ${command.name} "one string"${flags}`
  const words = command.arguments.map(argument => {
    const name = argument.variadic ? `${argument.name}…` : argument.name
    return argument.optional ? ` [${name}]` : ` ${name}`
  })
  return `acode ${command.name}${words.join("")}${flags}`
}

export function flagUsage(name: string, spec: FlagSpec): string {
  const short = "short" in spec && spec.short !== undefined ? `-${spec.short}, ` : ""
  switch (spec.kind) {
    case "boolean":
      return `${short}--${name}`
    case "choice":
      return `--${name} ${spec.choices.join("|")}`
    case "optional":
      return `--${name}[=${spec.value}]`
    default:
      return `${short}--${name} ${spec.value}`
  }
}

function flagRows(flags: FlagSpecs): string[] {
  const rows = Object.entries(flags).map(([name, spec]) => [flagUsage(name, spec), spec.summary] as const)
  const width = Math.min(36, Math.max(...rows.map(([left]) => left.length)))
  return rows.map(([left, right]) => `  ${left.padEnd(width)}  ${right}`)
}

function argumentRows(specs: readonly ArgumentSpec[]): string[] {
  const width = Math.max(...specs.map(spec => spec.name.length))
  return specs.map(spec => `  ${spec.name.padEnd(width)}  ${spec.summary}`)
}
