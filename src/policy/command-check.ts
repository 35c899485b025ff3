import type { PathOperation } from "../domain/effect.ts"
import { type DecisionKind, type Effect, type ExecuteEffect, emptyGrant } from "../domain/effect.ts"
import { decide } from "./decide.ts"
import type { PolicyOptions } from "./decision.ts"
import { isShell } from "./programs/shells.ts"
import type { RuleSet } from "./rules/rules.ts"

/** The answer that `acode policy check` prints. */
export interface CheckAnswer {
  readonly decision: DecisionKind
  /** Set when the command may run only in a sandbox. */
  readonly confined: boolean
  readonly rule: string
  readonly reason: string
}

/** Decides a command at the root of the workspace, outside any plan. */
export function checkCommand(
  command: readonly string[] | string,
  hasSandbox: boolean,
  rules: RuleSet,
  options: PolicyOptions,
): CheckAnswer {
  return answer([commandEffect(command, hasSandbox)], rules, options)
}

/** Returns the effect of a command: a string is a shell script, a list is a program and its arguments. */
export function commandEffect(command: readonly string[] | string, hasSandbox: boolean): ExecuteEffect {
  const run = typeof command === "string" ? { script: command } : { argv: command }
  return { kind: "execute", run, cwd: ".", network: "none", confined: hasSandbox }
}

export function checkPath(
  path: string,
  operation: PathOperation,
  rules: RuleSet,
  options: PolicyOptions,
): CheckAnswer {
  return answer([{ kind: operation, path }], rules, options)
}

function answer(effects: readonly Effect[], rules: RuleSet, options: PolicyOptions): CheckAnswer {
  const { decision, confined, rule, reason } = decide(effects, emptyGrant, rules, options)
  return { decision, confined, rule, reason }
}

/**
 * Reports whether the decision may have to read a shell string. Loading the parser costs as much as thousands of
 * decisions.
 */
export function needsShellParser(effects: readonly Effect[]): boolean {
  return effects.some(effect => {
    if (effect.kind !== "execute") return false
    if ("script" in effect.run) return true
    return effect.run.argv.some(word => {
      const name = word.slice(word.lastIndexOf("/") + 1)
      return isShell(name) || scriptWrappers.has(name)
    })
  })
}

const scriptWrappers = new Set(
  "su runuser flock script watch parallel sem entr reflex nodemon chokidar onchange trap".split(" "),
)
