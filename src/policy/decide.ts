import { unreachable } from "../base/assert.ts"
import { isLiteral } from "../base/glob.ts"
import {
  type ConnectEffect,
  type Decision,
  type Effect,
  type ExecuteEffect,
  emptyGrant,
  type Grant,
} from "../domain/effect.ts"
import { coversHost, type HostPattern, readHostPattern } from "../domain/hosts.ts"
import { decideCommand } from "./decide-command.ts"
import { decidePathEffect } from "./decide-path.ts"
import {
  isNetworkRefused,
  lifted,
  type Part,
  type PolicyOptions,
  part,
  partOf,
  strictest,
} from "./decision.ts"
import { decidePath } from "./protected-paths.ts"
import { isRefusal, matchesHostName, type RuleSet } from "./rules/rules.ts"

/**
 * Decides a set of effects: pure, and the same for the same arguments. Checks in this order protected paths, what is
 * never allowed, any rule that refuses, the plan's grant, the first rule that matches, and the default of the
 * category. `--yes` can only turn an ask into an allow, and so can a plan that only `--yes=plan` approved. What
 * happens to an ask that no user can answer is decided by the caller.
 */
export function decide(
  effects: readonly Effect[],
  grant: Grant,
  rules: RuleSet,
  options: PolicyOptions,
): Decision {
  const granted = decideUnder(effects, grant, rules, options)
  if (!grant.isUnseen) return granted
  const bare = decideUnder(effects, emptyGrant, rules, options)
  return bare.decision === "deny" ? bare : granted
}

/**
 * Returns what configuration itself refuses of the effects, by a rule or by an answer for a whole category. Leaves out
 * what is protected or never allowed, which no configuration decides.
 */
export function configuredRefusals(
  effects: readonly Effect[],
  rules: RuleSet,
  options: PolicyOptions,
): readonly Decision[] {
  const names = new Set(rules.rules.filter(isRefusal).map(({ name }) => name))
  return effects
    .flatMap(effect => decideEffect(effect, emptyGrant, rules, options))
    .filter(
      ({ decision, rule }) =>
        decision === "deny" && (names.has(rule) || /^(?:default|commands)\./.test(rule)),
    )
}

function decideUnder(
  effects: readonly Effect[],
  grant: Grant,
  rules: RuleSet,
  options: PolicyOptions,
): Decision {
  const parts = effects.flatMap(effect => decideEffect(effect, grant, rules, options))
  return strictest(parts.map(each => lifted(each, options.yes)))
}

function decideEffect(effect: Effect, grant: Grant, rules: RuleSet, options: PolicyOptions): Part[] {
  switch (effect.kind) {
    case "read":
    case "write":
    case "delete":
    case "list":
    case "createDirectory":
      return [
        decidePathEffect({ kind: effect.kind, path: effect.path, isCommand: false }, grant, rules, options),
      ]
    case "execute":
      return [
        ...airgapParts(effect, options),
        ...decideCommand(effect, grant, rules, options),
        ...grantedAskedParts(grant, rules, options),
      ]
    case "connect":
      return [...airgapParts(effect, options), decideConnection(effect, grant, rules, options)]
    default:
      return unreachable(effect)
  }
}

/**
 * Allows files of this kind that the plan names to each command, because its arguments need not show what it writes.
 */
function grantedAskedParts(grant: Grant, rules: RuleSet, options: PolicyOptions): Part[] {
  return grant.write
    .filter(pattern => isLiteral(pattern) && decidePath(pattern, "write").decision === "ask")
    .map(path => decidePathEffect({ kind: "write", path, isCommand: true }, grant, rules, options))
    .filter(({ decision }) => decision === "allow")
}

/**
 * Refuses the network in airgapped mode. A grant makes no difference: a plan decides the work, and the mode its
 * place.
 */
function airgapParts(effect: ExecuteEffect | ConnectEffect, { isAirgapped }: PolicyOptions): Part[] {
  const why = isAirgapped ? reachesOut(effect) : null
  if (why === null) return []
  const reason = `the session is airgapped, and ${why}`
  return [part({ decision: "deny", level: 4, category: "EXTERNAL_REQUEST", rule: "mode.airgapped", reason })]
}

function reachesOut(effect: ExecuteEffect | ConnectEffect): string | null {
  if (effect.kind === "connect") return `it connects to ${effect.host}`
  if (effect.network !== "none") return "it asks for the network"
  return effect.confined ? null : "no sandbox is available to keep the command from the network"
}

/**
 * Decides one entry of the allowlist of a command. Configuration refuses whatever the plan or `--yes` says; a refused
 * name below a wildcard is refused when the command connects to it.
 */
function decideConnection(
  { host }: ConnectEffect,
  grant: Grant,
  { rules }: RuleSet,
  options: PolicyOptions,
): Part {
  const about = { category: "EXTERNAL_REQUEST", level: 3 } as const
  const reading = readHostPattern(host)
  if ("problem" in reading)
    return part({
      ...about,
      decision: "deny",
      level: 4,
      rule: "never.host",
      reason: `${host} ${reading.problem}`,
    })
  const { pattern } = reading
  const matching = rules.filter(rule => matchesHostName(rule, host))
  const refusal = matching.find(isRefusal)
  if (refusal !== undefined)
    return partOf(refusal.policy, {
      ...about,
      rule: refusal.name,
      reason: refusal.message ?? "a rule refuses it",
    })
  const reason = `it connects to ${host}`
  if (isNetworkRefused(options))
    return partOf(options.defaults.EXTERNAL_REQUEST, { ...about, rule: "default.EXTERNAL_REQUEST", reason })
  if (isGranted(pattern, host, grant))
    return part({
      ...about,
      decision: "allow",
      rule: "plan.resources",
      reason: "the approved plan grants it",
    })
  const [rule] = matching
  if (rule !== undefined)
    return partOf(rule.policy, {
      ...about,
      rule: rule.name,
      reason: rule.message ?? `rule "${rule.name}"`,
      opens: pattern,
    })
  // The category as a whole opens no host, not even with `auto`.
  return part({ ...about, decision: "ask", rule: "default.EXTERNAL_REQUEST", reason, opens: pattern })
}

function isGranted(asked: HostPattern, host: string, { exact, hosts }: Grant): boolean {
  if (exact.some(effect => effect.kind === "connect" && effect.host === host)) return true
  return hosts.some(text => {
    const granted = readHostPattern(text)
    return "pattern" in granted && coversHost(granted.pattern, asked)
  })
}
