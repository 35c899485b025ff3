import type { Usage } from "./command-usage.ts"
import { buildRules } from "./rules-shipped-build.ts"
import { fileRules, outsideRules, type ShippedRule } from "./rules-shipped-files.ts"
import { gitUsage } from "./rules-shipped-git.ts"
import { packageRules } from "./rules-shipped-packages.ts"

/** Raised when a judgement that is written as code changes, since the data alone would not show it. */
const judgementVersion = 1

const all: readonly ShippedRule[] = [
  ...fileRules,
  ...outsideRules,
  ...buildRules,
  ...packageRules,
  { rule: "git", programs: "git", usage: gitUsage },
]

interface KnownProgram {
  readonly rule: string
  readonly usage: Usage
}

const programs: ReadonlyMap<string, KnownProgram> = new Map(
  all.flatMap(({ rule, programs: names, usage }) =>
    names.split(" ").map((name): [string, KnownProgram] => [name, { rule: `commands.${rule}`, usage }]),
  ),
)

export function knownProgram(name: string): KnownProgram | null {
  return programs.get(name) ?? null
}

/** What the policy version is taken from: a decision made under other rules is another decision. */
export const shippedRules = { judgementVersion, rules: all }
