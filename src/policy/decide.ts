import { unreachable } from "../base/assert.ts"
import type { ConnectEffect, Decision, Effect, ExecuteEffect, Grant } from "../domain/effect.ts"
import { decideCommand } from "./decide-command.ts"
import { decidePathEffect } from "./decide-path.ts"
import { lifted, type Part, type PolicyOptions, part, partOf, strictest } from "./decision.ts"
import { isRefusal, matchesPath, type RuleSet } from "./rules.ts"

/**
 * What policy says about a set of effects: pure, and the same for the same arguments. Looks in order at protected
 * paths, at what is never allowed, at any rule that refuses, at the plan's grant, at the first rule that matches, and
 * at the default of the category. `--yes` can only turn an ask into an allow. Who answers when nobody is there is not
 * decided here.
 */
export function decide(
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
      return [...airgapParts(effect, options), ...decideCommand(effect, grant, rules, options)]
    case "connect":
      return [...airgapParts(effect, options), decideConnection(effect, grant, rules, options)]
    default:
      return unreachable(effect)
  }
}

/** A grant does not help: a plan says what is to be done, and the mode where. */
function airgapParts(effect: ExecuteEffect | ConnectEffect, { isAirgapped }: PolicyOptions): Part[] {
  const why = isAirgapped ? reachesOut(effect) : null
  if (why === null) return []
  const reason = `the session is airgapped, and ${why}`
  return [part({ decision: "deny", level: 4, category: "EXTERNAL_REQUEST", rule: "mode.airgapped", reason })]
}

function reachesOut(effect: ExecuteEffect | ConnectEffect): string | null {
  if (effect.kind === "connect") return `it talks to ${effect.host}`
  if (effect.network === "host") return "it asks for the network"
  return effect.confined ? null : "there is no sandbox to keep the command from the network"
}

/** A host in the plan is recorded and grants nothing yet, since no sandbox could hold a program to it. */
function decideConnection(
  { host }: ConnectEffect,
  grant: Grant,
  { rules }: RuleSet,
  options: PolicyOptions,
): Part {
  const about = { category: "EXTERNAL_REQUEST", level: 3 } as const
  const matching = rules.filter(rule => matchesPath(rule, "EXTERNAL_REQUEST", host))
  const refusal = matching.find(isRefusal)
  if (refusal !== undefined)
    return partOf(refusal.policy, {
      ...about,
      rule: refusal.name,
      reason: refusal.message ?? "a rule refuses it",
    })
  if (grant.exact.some(effect => effect.kind === "connect" && effect.host === host))
    return part({
      ...about,
      decision: "allow",
      rule: "plan.resources",
      reason: "the approved plan grants it",
    })
  const [rule] = matching
  if (rule !== undefined)
    return partOf(rule.policy, { ...about, rule: rule.name, reason: rule.message ?? `rule "${rule.name}"` })
  const byDefault = options.defaults.EXTERNAL_REQUEST
  return partOf(byDefault, { ...about, rule: "default.EXTERNAL_REQUEST", reason: `it talks to ${host}` })
}
