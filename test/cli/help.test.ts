import { describe, expect, test } from "bun:test"
import { cliCommands } from "../../src/cli/commands/table.ts"
import { flagUsage, renderHelp, renderOverview, usageLine } from "../../src/cli/help.ts"
import { limitFlag } from "../../src/cli/parse/flags.ts"

function commandNamed(name: string) {
  const found = cliCommands.find(command => command.name === name)
  if (found === undefined) throw new Error(`no command ${name}`)
  return found
}

describe("the overview", () => {
  test("lists every command with its summary", () => {
    const text = renderOverview(cliCommands, null)
    for (const command of cliCommands) expect(text).toContain(`${command.name}  `)
    for (const command of cliCommands) expect(text).toContain(command.summary)
  })

  test("of a group lists that group only", () => {
    const text = renderOverview(cliCommands, "runs")
    expect(text).toContain("runs prune")
    expect(text).not.toContain("audit verify")
  })
})

describe("the help of a command", () => {
  for (const command of cliCommands)
    test(`${command.name} shows its usage, every flag and an example`, () => {
      const text = renderHelp(command)
      expect(text).toContain(usageLine(command))
      for (const name of Object.keys(command.flags)) expect(text).toContain(`--${name}`)
      expect(command.examples.length).toBeGreaterThan(0)
      for (const example of command.examples) expect(text).toContain(example.line)
    })

  test("every example starts a command that exists", () => {
    for (const command of cliCommands)
      for (const { line } of command.examples) expect(line).toContain(`acode ${command.name}`)
  })
})

describe("a usage line", () => {
  test("shows what is needed and what may be left out", () => {
    expect(usageLine(commandNamed("runs show"))).toBe("acode runs show ID [flags]")
    expect(usageLine(commandNamed("audit verify"))).toBe("acode audit verify [ID]")
  })

  test("of exec shows both forms", () => {
    expect(usageLine(commandNamed("exec"))).toBe(
      'acode exec [flags] [--] PROGRAM ARGS…  |  acode exec "one string" [flags]',
    )
  })
})

describe("a flag", () => {
  test("shows how it is written", () => {
    expect(flagUsage("json", { kind: "boolean", summary: "" })).toBe("--json")
    expect(flagUsage("help", { kind: "boolean", short: "h", summary: "" })).toBe("-h, --help")
    expect(flagUsage("limit", limitFlag(""))).toBe("--limit N")
    expect(flagUsage("yes", { kind: "optional", value: "SCOPES", summary: "" })).toBe("--yes[=SCOPES]")
    expect(flagUsage("network", { kind: "choice", choices: ["none", "host"], summary: "" })).toBe(
      "--network none|host",
    )
  })
})
