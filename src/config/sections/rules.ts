import { z } from "zod"
import { effectCategories } from "../../domain/effect.ts"
import { defaultConfig } from "../defaults.ts"
import { policyChoices } from "./approvals.ts"
import { executorLimits } from "./orchestration.ts"

const wordsMax = 100

/** The `rules:` list: a person's own decisions, in order. What they mean is checked by `config-rules-check`. */
export function rulesList() {
  return z
    .array(rule())
    .max(500)
    .default(defaultConfig.rules)
    .describe(
      "Decisions of your own: a refusal always holds, otherwise the first rule that matches. Each file adds to the " +
        "list, the project's before yours; from a file that is not trusted only `deny` and `skip` count. A refusal does " +
        "not stop a command that you type yourself after `exec`, only its network; it is printed.",
    )
}

/** The `executor:` section. */
export function executorSection() {
  return z
    .strictObject({
      allowed_commands: z
        .array(leadingArguments())
        .max(200)
        .default(defaultConfig.executor.allowed_commands)
        .describe("Commands that run without being asked, in a sandbox: short for rules with policy `auto`."),
      ...executorLimits(),
    })
    .prefault({})
    .describe("Commands that need no approval, and how much one step of a session may take.")
}

function rule() {
  const operations = effectCategories.map(category => category.toLowerCase())
  return z
    .strictObject({
      name: z.string().min(1).max(200).describe("a name of its own, which decisions are told with"),
      operation: z.enum([...operations, ...effectCategories]).describe("What the rule is about."),
      policy: z.enum(policyChoices).describe("What happens: go ahead, ask, refuse, or pass over it."),
      pattern: z
        .union([glob(), z.array(glob()).min(1).max(wordsMax)])
        .exactOptional()
        .describe("Globs over paths or host names; one with ! in front must not match."),
      command: leadingArguments().exactOptional(),
      command_regex: z
        .string()
        .max(200)
        .exactOptional()
        .describe("a regular expression from ^ to $ of at most 200 characters"),
      prompt_message: z.string().max(1000).exactOptional().describe("text of at most 1000 characters"),
      match: examples().describe("Examples the rule must match; they are tried when the file is read."),
      not_match: examples().describe("Examples the rule must not match."),
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
    .describe("The program and its leading arguments, * standing for any one; a text is split at spaces.")
}

function examples() {
  const words = z.array(z.string().describe("an argument")).max(wordsMax)
  return z
    .array(z.union([z.string().describe("a path, a host or a command"), words]))
    .max(wordsMax)
    .exactOptional()
}
