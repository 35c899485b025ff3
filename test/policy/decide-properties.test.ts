import { describe, expect, test } from "bun:test"
import fc from "fast-check"
import { shellQuoted } from "../../src/base/text.ts"
import type { DecisionKind, Effect } from "../../src/domain/effect.ts"
import { checkCommand, checkPath } from "../../src/policy/command-check.ts"
import { readRules } from "../../src/policy/rules/reader.ts"
import { ruleSet } from "../../src/policy/rules/rules.ts"
import hostile from "../scenarios/policy/hostile-commands.json"
import ordinary from "../scenarios/policy/ordinary-commands.json"
import paths from "../scenarios/policy/paths.json"
import { decideOn, execute, options, parser, shipped } from "./policy-kit.ts"

interface Row {
  readonly command?: string
  readonly argv?: readonly string[]
}
const rows: readonly Row[] = [...hostile, ...ordinary]
const commands = rows.map(({ command, argv }) => argv ?? command ?? "")
const strictness: Readonly<Record<DecisionKind, number>> = { allow: 0, ask: 1, deny: 2 }

const policies = fc.constantFrom("auto", "prompt", "deny", "skip")
const programs = fc.constantFrom("npm", "git", "ls", "cat", "rm", "curl", "make", "foo", "sh", "env")
const commandRule = fc.record({
  operation: fc.constant("terminal_command"),
  policy: policies,
  command: fc
    .tuple(programs, fc.constantFrom("*", "test", "log", "install", "-rf", "x"))
    .map(pair => [...pair]),
})
const pathRule = fc.record({
  operation: fc.constantFrom("file_read", "file_write", "file_delete"),
  policy: policies,
  pattern: fc.constantFrom("**", "src/**", "*.ts", "!src/**", ".git/**", "a"),
})
const entries = fc.array(fc.oneof(commandRule, pathRule), { maxLength: 5 })
const named = (list: readonly object[]) => list.map((entry, index) => ({ name: `r${index}`, ...entry }))
const effects: fc.Arbitrary<Effect> = fc.oneof(
  fc.constantFrom(...commands).map(command => execute(command)),
  fc.constantFrom(...paths).map(
    ({ path, op }): Effect => ({
      kind: op === "list" ? "list" : op === "read" ? "read" : op === "delete" ? "delete" : "write",
      path,
    }),
  ),
)

const ruled = (list: readonly object[]) => {
  const { rules, problems } = readRules(named(list))
  expect(problems).toEqual([])
  return ruleSet(rules)
}

describe("whatever the rules are", () => {
  test("adding a refusal never allows more", () => {
    fc.assert(
      fc.property(effects, entries, fc.oneof(commandRule, pathRule), fc.nat(5), (effect, list, extra, at) => {
        const refusal = { ...extra, policy: "deny" }
        const more = [...list.slice(0, at), refusal, ...list.slice(at)]
        const before = decideOn([effect], { rules: ruled(list) }).decision
        const after = decideOn([effect], { rules: ruled(more) }).decision
        expect(strictness[after]).toBeGreaterThanOrEqual(strictness[before])
      }),
      { numRuns: 400 },
    )
  })

  test("no rule, plan or --yes reaches Level 4", () => {
    fc.assert(
      fc.property(effects, entries, (effect, list) => {
        if (decideOn([effect]).level < 4) return
        const grant = { write: ["**"], exact: [effect], commands: [] }
        expect(decideOn([effect], { rules: ruled(list), yes: "all", grant })).toMatchObject({
          decision: "deny",
        })
      }),
      { numRuns: 400 },
    )
  })

  test("--yes never makes anything stricter, and more effects never milder", () => {
    fc.assert(
      fc.property(effects, effects, entries, (one, two, list) => {
        const rules = ruled(list)
        const plain = strictness[decideOn([one], { rules }).decision]
        expect(strictness[decideOn([one], { rules, yes: "all" }).decision]).toBeLessThanOrEqual(plain)
        expect(strictness[decideOn([one, two], { rules }).decision]).toBeGreaterThanOrEqual(plain)
      }),
      { numRuns: 400 },
    )
  })

  test("nothing is ever allowed unconfined by rules alone", () => {
    fc.assert(
      fc.property(fc.constantFrom(...commands), entries, (command, list) => {
        const { decision, confined } = decideOn([execute(command)], { rules: ruled(list) })
        expect(decision === "allow" && !confined).toBe(false)
        const bare = decideOn([execute(command, { confined: false })], { rules: ruled(list) })
        expect(bare.decision).not.toBe("allow")
      }),
      { numRuns: 400 },
    )
  })
})

describe("a hostile command stays refused", () => {
  const strings = hostile.flatMap(row =>
    "command" in row && typeof row.command === "string" ? [row.command] : [],
  )
  const decide = (command: string | readonly string[]) =>
    checkCommand(command, true, shipped, options).decision

  test("as the string of another shell", () => {
    for (const command of strings) expect(decide(["sh", "-c", command])).not.toBe("allow")
  })

  test("behind another command, in a group, a subshell, a condition and a substitution", () => {
    const frames: readonly ((text: string) => string)[] = [
      text => `true; ${text}`,
      text => `true && ${text}`,
      text => `{ ${text}\n}`,
      text => `(${text}\n)`,
      text => `if true; then ${text}\nfi`,
      text => `echo "$(${text}\n)"`,
      text => `sh -c ${shellQuoted(text)}`,
    ]
    for (const frame of frames)
      for (const command of strings)
        if (parser.parse(command).readable)
          expect(`${decide(frame(command))} ${frame(command)}`).not.toStartWith("allow")
  })

  test("behind every wrapper", () => {
    const argvs = hostile.flatMap(row =>
      "argv" in row && row.argv !== undefined && row.argv.length > 0 ? [row.argv] : [],
    )
    for (const wrapper of [
      ["env"],
      ["nice"],
      ["timeout", "5"],
      ["nohup"],
      ["xargs"],
      ["time"],
      ["stdbuf", "-oL"],
    ])
      for (const argv of argvs) expect(decide([...wrapper, ...argv])).not.toBe("allow")
  })
})

describe("anything at all", () => {
  test("is decided without throwing", () => {
    fc.assert(
      fc.property(fc.oneof(fc.string({ unit: "binary" }), fc.string()), text => {
        expect(["allow", "ask", "deny"]).toContain(checkCommand(text, true, shipped, options).decision)
        expect(["allow", "ask", "deny"]).toContain(
          checkCommand(text.split(" "), true, shipped, options).decision,
        )
        expect(["allow", "ask", "deny"]).toContain(checkPath(text, "write", shipped, options).decision)
      }),
      { numRuns: 500 },
    )
  })
})

describe("speed", () => {
  /** The best of several tries, so that other work on the machine is not measured. */
  const best = (question: () => unknown) => {
    let found = Number.POSITIVE_INFINITY
    for (let count = 0; count < 15; count++) {
      const began = performance.now()
      question()
      found = Math.min(found, performance.now() - began)
    }
    return found
  }

  test("99 of 100 decisions take less than 0.2 ms, strings included", () => {
    for (const command of commands) checkCommand(command, true, shipped, options)
    const times = commands.map(command => best(() => checkCommand(command, true, shipped, options)))
    times.sort((a, b) => a - b)
    expect(times[Math.floor(times.length * 0.99)]).toBeLessThan(0.2)
  })
})
