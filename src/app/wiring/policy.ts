import { canonicalJson, sha256Hex } from "../../base/canonical.ts"
import type { AppEnvironment } from "../../config/environment.ts"
import type { Config } from "../../config/schema.ts"
import { toApprovalSettings } from "../../config/settings.ts"
import type { Decision, Effect, Grant } from "../../domain/effect.ts"
import { needsShellParser } from "../../policy/command-check.ts"
import { decide } from "../../policy/decide.ts"
import type { PolicyOptions } from "../../policy/decision.ts"
import { isRefusal, matchesHostName, type RuleSet, ruleSet } from "../../policy/rules/rules.ts"
import { noScopes } from "../../policy/yes-scopes.ts"
import { namedByGit } from "../../sandbox/tree/git-named.ts"
import type { GivenYes } from "../policy-yes.ts"

export interface PolicyWiring {
  readonly config: Config
  readonly environment: AppEnvironment
  /** The workspace root, absolute and without links. */
  readonly root: string
  readonly yes: GivenYes | undefined
  readonly isAirgapped: boolean
}

/** The policy in force in this workspace. */
export interface WiredPolicy {
  decide(effects: readonly Effect[], grant: Grant): Promise<Decision>
  /** A hash of everything a decision depends on: an approval under another policy is not valid. */
  readonly policyVersion: string
  readonly rules: RuleSet
  /** Returns why configuration refuses a host to every command; null where it does not. */
  hostRefusal(host: string): string | null
  /** Returns the options for a decision on these effects. Loads the shell grammar only where it may be needed. */
  optionsFor(effects: readonly Effect[]): Promise<PolicyOptions>
}

export async function wirePolicy(wiring: PolicyWiring): Promise<WiredPolicy> {
  const { config, environment, root, yes, isAirgapped } = wiring
  const { defaults } = toApprovalSettings(config)
  const rules = await configuredRuleSet(config)
  const named = namedByGit({ root, home: environment.home, environment: environment.host }, []).paths
  const options: PolicyOptions = {
    root,
    home: environment.home,
    namedByGit: named,
    defaults,
    yes: yes?.scopes ?? noScopes,
    isAirgapped,
    parser: null,
  }
  const optionsFor = async (effects: readonly Effect[]) =>
    needsShellParser(effects) ? { ...options, parser: await loadParser() } : options
  const judged = {
    rules: rules.version,
    defaults,
    yes: yes?.text ?? null,
    isAirgapped,
    ...(named.length === 0 ? {} : { named }),
  }
  return {
    decide: async (effects, grant) => decide(effects, grant, rules, await optionsFor(effects)),
    policyVersion: `sha256:${sha256Hex(canonicalJson(judged))}`,
    rules,
    hostRefusal: host => {
      const rule = rules.rules.find(each => isRefusal(each) && matchesHostName(each, host))
      return rule === undefined ? null : `it is refused by the rule "${rule.name}"`
    },
    optionsFor,
  }
}

async function configuredRuleSet(config: Config): Promise<RuleSet> {
  if (config.rules.length + config.executor.allowed_commands.length === 0) return ruleSet([])
  const { configuredRules } = await import("../../config/rules-check.ts")
  return ruleSet(configuredRules(config))
}

/** Loads the shell grammar, which takes longer than everything else in a decision. */
async function loadParser() {
  const { loadShellParser } = await import("../../policy/shell/parser.ts")
  return loadShellParser()
}
