import {
  type Decision,
  type Effect,
  type ExecuteEffect,
  emptyGrant,
  type Grant,
} from "../../src/domain/effect.ts"
import { decide } from "../../src/policy/decide.ts"
import type { PolicyOptions } from "../../src/policy/decision.ts"
import { type Layer, newLayer, type Objection } from "../../src/policy/programs/layer.ts"
import type { CommandContext } from "../../src/policy/programs/paths.ts"
import { analyseArgv, analyseScript } from "../../src/policy/programs/script.ts"
import { readRules } from "../../src/policy/rules/reader.ts"
import { type RuleSet, ruleSet } from "../../src/policy/rules/rules.ts"
import { loadShellParser } from "../../src/policy/shell/parser.ts"
import { marks, type ParsedCommand } from "../../src/policy/shell/script.ts"
import { noScopes, parseYes, type YesScopes } from "../../src/policy/yes-scopes.ts"
import { shippedDefaults } from "../support/plan/shipped-decisions.ts"

export const parser = await loadShellParser()

/** A workspace at /w and a home at /h: nothing here looks at the disk. */
export const options: PolicyOptions = {
  root: "/w",
  home: "/h",
  defaults: shippedDefaults,
  yes: noScopes,
  isAirgapped: false,
  parser,
}
export const scene: CommandContext = { root: "/w", home: "/h", directories: ["/w"] }
export const shipped = ruleSet([])

/** Words as a test writes them: `{?}` unknown, `{??}` splitting, `{*}` wildcard, `{~}` home. */
export function marked(word: string): string {
  return word
    .replaceAll("{??}", marks.splitting)
    .replaceAll("{?}", marks.unknown)
    .replaceAll("{*}", marks.wildcard)
    .replaceAll("{~}", marks.home)
}

export function unmarked(word: string): string {
  return word
    .replaceAll(marks.splitting, "{??}")
    .replaceAll(marks.unknown, "{?}")
    .replaceAll(marks.wildcard, "{*}")
    .replaceAll(marks.home, "{~}")
}

/** The commands of a script that must be readable. */
export function commandsOf(text: string): readonly ParsedCommand[] {
  const parsed = parser.parse(text)
  if (!parsed.readable) throw new Error(`unreadable: ${parsed.reason}`)
  return parsed.commands
}

export function wordsOf(text: string): string[][] {
  return commandsOf(text).map(command => command.words.map(unmarked))
}

/** Why a script is not read, or null when it is. */
export function refusalOf(text: string): string | null {
  const parsed = parser.parse(text)
  return parsed.readable ? null : parsed.reason
}

export function layersOf(command: string | readonly string[]): readonly Layer[] {
  const analysis =
    typeof command === "string"
      ? analyseScript(command, scene, parser)
      : analyseArgv(command.map(marked), scene, parser)
  return analysis.layers
}

/** A layer whose words carry marks where the test writes them. */
export function layer(command: string): Layer {
  return newLayer(command.split(" ").map(marked), null)
}

/** `ask commands.option@2`, one for each finding. */
export function findingsOf(of: readonly Layer[] | Layer): string[] {
  const layers = Array.isArray(of) ? of : [of]
  return layers.flatMap((each: Layer) => each.findings.map(spelled))
}

function spelled({ severity, rule, at }: Objection): string {
  return `${severity} ${rule}@${at}`
}

/** `write a.ts@1`, one for each path. */
export function touchesOf({ touches }: Layer): string[] {
  return touches.map(({ operation, path, at }) => `${operation} ${unmarked(path)}@${at}`)
}

export function execute(
  command: string | readonly string[],
  more: Partial<ExecuteEffect> = {},
): ExecuteEffect {
  const run = typeof command === "string" ? { script: command } : { argv: command }
  return { kind: "execute", run, cwd: ".", network: "none", confined: true, ...more }
}

export interface Given {
  readonly grant?: Partial<Grant>
  readonly rules?: RuleSet
  readonly yes?: string | null
  readonly options?: Partial<PolicyOptions>
}

export function decideOn(effects: readonly Effect[], given: Given = {}): Decision {
  const yes = given.yes === undefined ? noScopes : scopesOf(given.yes)
  const grant = { ...emptyGrant, ...given.grant }
  return decide(effects, grant, given.rules ?? shipped, { ...options, yes, ...given.options })
}

export function scopesOf(value: string | null): YesScopes {
  const parsed = parseYes(value, true)
  if (parsed.scopes === null) throw new Error(parsed.problems.map(({ message }) => message).join("; "))
  return parsed.scopes
}

/** Rules that must be in order. */
export function rulesOf(...entries: readonly object[]): RuleSet {
  const { rules, problems } = readRules(entries)
  if (problems.length > 0) throw new Error(JSON.stringify(problems))
  return ruleSet(rules)
}
