import { posix } from "node:path"
import { canonicalJson } from "../base/canonical.ts"
import type { Effect, ExecuteEffect, Grant } from "../domain/effect.ts"
import { decidePathEffect } from "./decide-path.ts"
import { isNetworkRefused, type Part, type PolicyOptions, part, partOf, pathKinds } from "./decision.ts"
import type { Layer, Objection } from "./programs/layer.ts"
import { type CommandContext, relativeTo, resolveWord } from "./programs/paths.ts"
import { analyseArgv, analyseScript } from "./programs/script.ts"
import { commandText } from "./rules/reader.ts"
import { isRefusal, matchedArguments, type Rule, type RuleSet } from "./rules/rules.ts"
import { marks } from "./shell/script.ts"

const terminal = { category: "TERMINAL_COMMAND", isCommand: true } as const

/** Decides every program that would start and every path that its arguments name. */
export function decideCommand(
  effect: ExecuteEffect,
  grant: Grant,
  rules: RuleSet,
  options: PolicyOptions,
): Part[] {
  const directory = posix.resolve(options.root, effect.cwd)
  if (relativeTo(options.root, directory) === null)
    return [
      part({
        ...terminal,
        decision: "deny",
        level: 4,
        rule: "workspace.outside",
        reason: `${effect.cwd} is outside workspace`,
      }),
    ]
  const start: CommandContext = { root: options.root, home: options.home, directories: [directory] }
  const { layers, scene } =
    "argv" in effect.run
      ? analyseArgv(effect.run.argv, start, options.parser)
      : analyseScript(effect.run.script, start, options.parser)
  const isExact = grant.exact.some(granted => isSameRun(granted, effect))
  const context: Context = { effect, grant, rules, options, scene, isExact }
  const parts = layers.flatMap(layer => decideLayer(layer, context))
  if ("script" in effect.run) parts.push(ordinary("commands.shell"))
  parts.push(...networkParts(context))
  return parts.map(each => withoutSandbox(each, effect, isExact && grant.isUnconfined))
}

interface Context {
  readonly effect: ExecuteEffect
  readonly grant: Grant
  readonly rules: RuleSet
  readonly options: PolicyOptions
  readonly scene: CommandContext
  readonly isExact: boolean
}

function isSameRun(granted: Effect, effect: ExecuteEffect): boolean {
  if (granted.kind !== "execute") return false
  const spelled = ({ run, cwd, network }: ExecuteEffect) =>
    canonicalJson({ run, cwd: posix.resolve("/", cwd), network })
  return spelled(granted) === spelled(effect)
}

/** Decides the network of the command as a whole; each host of an allowlist is an effect of its own. */
function networkParts({ effect, rules, options, isExact }: Context): Part[] {
  const about = { level: 3, category: "EXTERNAL_REQUEST" } as const
  if (effect.network === "hosts" && !effect.confined)
    return [part({ ...about, decision: "deny", rule: "commands.hosts", reason: noProxy })]
  if (effect.network !== "host") return []
  if (isNetworkRefused(options)) return [refusedNetwork(allOfIt, options)]
  const refusal = rules.rules.find(rule => rule.category === "EXTERNAL_REQUEST" && isRefusal(rule))
  if (refusal !== undefined) {
    const reason = `all of the network includes the hosts that rule "${refusal.name}" refuses; ask for single hosts`
    return [partOf(refusal.policy, { ...about, rule: refusal.name, reason })]
  }
  if (isExact) return []
  return [part({ ...about, decision: "ask", rule: "commands.network", reason: allOfIt, opens: "all" })]
}

const allOfIt =
  "all of the network, services of this machine and cloud metadata included; a list of hosts opens single ones"
const noProxy = "no sandbox is available to limit it to single hosts"

/** Decides a program that needs the network. In a sandbox it gets only the network that the command asks for. */
function onlineProgramPart(reason: string, { effect, options }: Context): Part {
  if (isNetworkRefused(options)) return refusedNetwork(reason, options)
  return part({
    decision: "ask",
    level: 3,
    category: "EXTERNAL_REQUEST",
    rule: "commands.network",
    reason,
    isCommand: true,
    opens: effect.confined ? null : "all",
  })
}

function refusedNetwork(reason: string, { defaults }: PolicyOptions): Part {
  const about = { level: 3, category: "EXTERNAL_REQUEST", reason, rule: "default.EXTERNAL_REQUEST" } as const
  return partOf(defaults.EXTERNAL_REQUEST, about)
}

/**
 * Turns an allow that depends on confinement into an ask where no sandbox confines the command. A step that was
 * granted as written stays allowed if its approver knew that no sandbox is available.
 */
function withoutSandbox(each: Part, effect: ExecuteEffect, isGrantedSo: boolean): Part {
  if (effect.confined || each.decision !== "allow" || !each.confined) return each
  if (isGrantedSo) return { ...each, confined: false }
  return part({
    ...each,
    decision: "ask",
    confined: false,
    isLiftable: true,
    reason: "no sandbox is available to confine it",
  })
}

function decideLayer(layer: Layer, context: Context): Part[] {
  const named = grantedLength(layer, context)
  const granted = context.isExact ? Number.POSITIVE_INFINITY : named
  const touched = layer.touches.flatMap(touch => decideTouch(touch, granted, context))
  const fatal = layer.findings.find(finding => finding.severity === "never")
  const text = layerText(layer, context.effect)
  const refusal = context.rules.rules.find(rule => isRefusal(rule) && matchesLayer(rule, layer, text) > 0)
  if (fatal !== undefined)
    return [
      part({ ...terminal, decision: "deny", level: 4, rule: fatal.rule, reason: fatal.reason }),
      ...(refusal === undefined ? [] : [rulePart(refusal)]),
      ...touched,
    ]
  if (refusal !== undefined) return [rulePart(refusal), ...touched]
  const network = layer.findings.find(finding => finding.network)
  if (network !== undefined && isNetworkRefused(context.options))
    return [refusedNetwork(network.reason, context.options), ...touched]
  if (layer.argv.length === 0 && layer.findings.length === 0) return touched
  return [decideFindings(layer, granted, text, context), ...touched]
}

function layerText(layer: Layer, effect: ExecuteEffect): string {
  if (layer.argv.length > 0) return commandText(layer.argv)
  return "script" in effect.run ? effect.run.script : ""
}

/** Matches a rule. A script as a whole is matched by a regular expression only. */
function matchesLayer(rule: Rule, layer: Layer, text: string): number {
  if (layer.argv.length > 0) return matchedArguments(rule, layer.argv, text)
  return rule.command === null && text !== "" ? matchedArguments(rule, [text], text) : 0
}

function rulePart(rule: Rule): Part {
  const reason = rule.message ?? `rule "${rule.name}"`
  return partOf(rule.policy, {
    ...terminal,
    level: 3,
    rule: rule.name,
    reason,
    confined: rule.policy === "auto",
  })
}

function decideFindings(layer: Layer, granted: number, text: string, context: Context): Part {
  const { rules, effect, grant } = context
  // A command that was approved for a sandbox could reach everything without one.
  const isFree = !effect.confined && !grant.isUnconfined
  // Each host is decided separately, so naming the command is enough for the rest.
  const isOpen = (network: boolean, length: number) =>
    network && effect.network !== "hosts" && (isFree || length !== Number.POSITIVE_INFINITY)
  const uncovered = (length: number) =>
    layer.findings.filter(({ at, network }) => at >= length || isOpen(network, length))
  if (granted > 0 && uncovered(granted).length === 0)
    return part({
      ...terminal,
      decision: "allow",
      confined: true,
      level: 2,
      rule: "plan.commands",
      reason: "the approved plan grants it",
    })
  const rule = rules.rules.find(each => !isRefusal(each) && matchesLayer(each, layer, text) > 0)
  if (rule?.policy === "prompt") return rulePart(rule)
  const open = rule === undefined ? layer.findings : uncovered(matchesLayer(rule, layer, text))
  const [first] = open
  if (first !== undefined) return findingPart(open.find(({ network }) => network) ?? first, context)
  if (rule !== undefined) return rulePart(rule)
  return ordinary(layer.rule)
}

function ordinary(rule: string): Part {
  return part({
    ...terminal,
    decision: "allow",
    confined: true,
    level: 2,
    rule,
    reason: "an ordinary command, confined",
  })
}

function findingPart(finding: Objection, context: Context): Part {
  const { rule, reason } = finding
  if (finding.network) return onlineProgramPart(reason, context)
  const fallback = context.options.defaults.TERMINAL_COMMAND
  const isUnknown = rule === "commands.unknown-program"
  const policy = fallback === "auto" && !isUnknown ? "prompt" : fallback
  return partOf(policy, { ...terminal, level: 3, rule, reason, confined: policy === "auto" })
}

/**
 * Returns how many leading arguments of the layer the plan spells out, itself or as part of the command that starts
 * it.
 */
function grantedLength(layer: Layer, context: Context): number {
  const own = context.grant.commands.reduce((longest, prefix) => {
    const matches = prefix.length > 0 && prefix.every((word, index) => layer.argv[index] === word)
    return matches ? Math.max(longest, prefix.length) : longest
  }, 0)
  if (layer.outer === null) return own
  const above = grantedLength(layer.outer.layer, context)
  if (layer.outer.by === "argv") return Math.max(own, above - layer.outer.offset)
  return above > layer.outer.offset ? Number.POSITIVE_INFINITY : own
}

function decideTouch(touch: Layer["touches"][number], granted: number, context: Context): Part[] {
  const { grant, rules, options, scene } = context
  const { category, level } = pathKinds[touch.operation]
  const isChange = category !== "FILE_READ"
  const paths = resolveWord(touch.path, scene)
  if (paths === null) {
    if (!isChange || granted > touch.at) return []
    const reason = "its changes are known only when it runs"
    return [
      part({ decision: "ask", level: 3, category, rule: "commands.dynamic-path", reason, isCommand: true }),
    ]
  }
  return paths.map(path => {
    const spelled = path.replaceAll(marks.wildcard, "*")
    const question = { kind: touch.operation, path: spelled, isCommand: true }
    const found = decidePathEffect(question, grant, rules, options)
    const isMade = touch.isOutput && relativeTo(options.root, path) !== null
    const covered = found.decision === "ask" && found.isLiftable && (granted > touch.at || isMade)
    const rule = granted > touch.at ? "plan.commands" : found.rule
    const allowed: Part = covered ? { ...found, decision: "allow", rule } : found
    return allowed.decision === "allow" ? { ...allowed, level: level === 1 ? 2 : level } : allowed
  })
}
