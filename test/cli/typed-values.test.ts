import { describe, expect, test } from "bun:test"
import { cliCommands } from "../../src/cli/commands/table.ts"
import type { CliCommand } from "../../src/cli/definition.ts"
import type { FlagSpec } from "../../src/cli/parse/flags.ts"
import { parseLine } from "../../src/cli/parse/parse.ts"
import { Failure } from "../../src/domain/failure.ts"
import { runAcode } from "../support/acode.ts"
import { tempWorkspace } from "../support/workspace/temp-workspace.ts"

/** The words help shows for what a flag takes, and the kinds that are checked before anything is done. */
const checkedKinds: Readonly<Record<string, string>> = {
  N: "number",
  SECONDS: "number",
  BYTES: "number",
  MB: "number",
  DURATION: "duration",
  AGE: "duration",
  TIME: "time",
  ID: "id",
}

interface TypedFlag {
  readonly command: CliCommand
  readonly name: string
  readonly spec: FlagSpec
}

const typedFlags: readonly TypedFlag[] = cliCommands.flatMap(command =>
  Object.entries(command.flags).map(([name, spec]) => ({ command, name, spec })),
)

const checked = typedFlags.filter(({ spec }) => ["number", "duration", "time"].includes(spec.kind))

const nonsense = [
  "-3",
  "NaN",
  "1e99",
  "1e3",
  "",
  " ",
  "text",
  "Infinity",
  "0x10",
  "1_000",
  "+5",
  "٣",
  "5 5",
  "\n",
]
const huge = ["9".repeat(20), "9".repeat(400), `${"9".repeat(20)}d`, `${"9".repeat(400)}w`]

/** Zero is a number of cycles and an age; everywhere else it means nothing. */
function zeros({ spec }: TypedFlag): readonly string[] {
  if (spec.kind === "number") return spec.min > 0 ? ["0", "00"] : []
  return spec.kind === "duration" && spec.minMs > 0 ? ["0", "0s", "0.0001s", "-1h"] : ["0", "-1h"]
}

function line({ command, name }: TypedFlag, typed: string): string[] {
  return [...command.name.split(" "), ...command.arguments.map(() => "true"), `--${name}=${typed}`]
}

/** A program's own words come last. */
function execLine(flag: TypedFlag, typed: string): string[] {
  return flag.command.passthrough
    ? [...flag.command.name.split(" "), `--${flag.name}`, typed, "--", "true"]
    : line(flag, typed)
}

describe("a number, a duration or a time on the command line", () => {
  test("is declared as what it is, in every command", () => {
    expect(checked.length).toBeGreaterThan(40)
    for (const { command, name, spec } of typedFlags)
      if ("value" in spec)
        expect([command.name, name, spec.kind]).toEqual([
          command.name,
          name,
          checkedKinds[spec.value] ?? spec.kind,
        ])
  })

  test("that makes no sense is refused before anything is done, whatever the flag", () => {
    const accepted: string[] = []
    for (const flag of checked)
      for (const typed of [...nonsense, ...huge, ...zeros(flag)]) {
        const failure = refusal(execLine(flag, typed))
        if (failure === null) accepted.push(`${flag.command.name} --${flag.name}=${typed}`)
        else expect(failure.report.message).toMatch(new RegExp(`^--${flag.name} takes a `))
      }
    expect(accepted).toEqual([])
  })

  test("at both bounds of its range is accepted", () => {
    for (const flag of checked) {
      if (flag.spec.kind !== "number") continue
      for (const bound of [flag.spec.min, flag.spec.max])
        expect([flag.name, refusal(execLine(flag, String(bound)))?.report.message]).toEqual([
          flag.name,
          undefined,
        ])
    }
  })

  test("ends each command with its own code for wrong usage and no trace of the program's insides", async () => {
    using workspace = tempWorkspace()
    const firsts = checked.filter(({ command }, index) => checked[index - 1]?.command !== command)
    for (const [index, flag] of firsts.entries()) {
      const { exitCode, stdout, stderr } = await runAcode(
        execLine(flag, nonsense[index % nonsense.length] ?? ""),
        {
          cwd: workspace.root,
          env: workspace.environment,
        },
      )
      expect([flag.command.name, exitCode, stdout]).toEqual([
        flag.command.name,
        flag.command.usageExitCode ?? 2,
        "",
      ])
      expect(stderr).toMatch(/^error ACODE-(CLI-002|EXE-007): --[a-z-]+ takes .*\n {2}at acode .*\n {2}→ /)
      expect(stderr).not.toMatch(/\n\s+at .*:\d+:\d+/)
    }
  })
})

function refusal(argv: readonly string[]): Failure | null {
  try {
    parseLine(argv, cliCommands)
    return null
  } catch (error) {
    if (error instanceof Failure && error.report.kind === "usage") return error
    throw error
  }
}
