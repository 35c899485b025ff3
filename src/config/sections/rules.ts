import { z } from "zod"
import { effectCategories } from "../../domain/effect.ts"
import { defaultConfig } from "../defaults.ts"
import { policyChoices } from "./approvals.ts"
import { executorLimits } from "./orchestration.ts"

const wordsMax = 100

/** Returns the `rules:` list: the user's own decisions, in order. `rules-check.ts` checks their meaning. */
export function rulesList() {
  return z
    .array(rule())
    .max(500)
    .default(defaultConfig.rules)
    .describe(
      "Your own rules: a rule that refuses always wins, otherwise the first rule that matches decides. Each file adds to " +
        "the list, the project's rules before yours; of a file that is not trusted only `deny` and `skip` count. A " +
        "refusal does not stop a command that you type yourself after `exec`; it closes its network, and is printed.",
    )
}

/** Returns the `executor:` section: allowed commands, and limits of a step. */
export function executorSection() {
  return z
    .strictObject({
      allowed_commands: z
        .array(leadingArguments())
        .max(200)
        .default(defaultConfig.executor.allowed_commands)
        .describe("Commands that run in a sandbox without a question: short for rules with policy `auto`."),
      ...executorLimits(),
    })
    .prefault({})
    .describe("Commands that need no approval, and limits of one step of a session.")
}

function rule() {
  const operations = effectCategories.map(category => category.toLowerCase())
  return z
    .strictObject({
      name: z.string().min(1).max(200).describe("a unique name, which messages about decisions show"),
      operation: z
        .enum([...operations, ...effectCategories])
        .describe("The operation that the rule decides."),
      policy: z.enum(policyChoices).describe("The decision: allow, ask, refuse, or skip the operation."),
      pattern: z
        .union([glob(), z.array(glob()).min(1).max(wordsMax)])
        .exactOptional()
        .describe(
          "Globs over paths or host names; a path or host that matches a glob with ! in front is excluded.",
        ),
      command: leadingArguments().exactOptional(),
      command_regex: z
        .string()
        .max(200)
        .exactOptional()
        .describe("a regular expression from ^ to $ of at most 200 characters"),
      prompt_message: z.string().max(1000).exactOptional().describe("text of at most 1000 characters"),
      match: examples().describe("Examples that the rule must match; checked when the file is read."),
      not_match: examples().describe("Examples that the rule must not match."),
    })
    .describe("One decision about one kind of operation.")
}

function glob() {
  return z.string().min(1).max(1000).describe("a glob such as src/**")
}

function leadingArguments() {
  const words = z.array(z.string().max(1000).describe("an argument")).min(1).max(wordsMax)
  return z
    .union([z.string().min(1).max(1000).describe("leading arguments such as npm run build"), words])
    .describe(
      "The program and its leading arguments; * matches any one argument, and a string is split at spaces.",
    )
}

function examples() {
  const words = z.array(z.string().describe("an argument")).max(wordsMax)
  return z
    .array(z.union([z.string().describe("a path, a host or a command"), words]))
    .max(wordsMax)
    .exactOptional()
}
