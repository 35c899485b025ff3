import { z } from "zod"
import type { RulePolicy } from "../../policy/rules/rules.ts"
import { defaultConfig } from "../defaults.ts"

/** The policies, repeated here because importing them from the policy folder would load all shipped rules at start. */
export const policyChoices = ["auto", "prompt", "deny", "skip"] as const satisfies readonly RulePolicy[]

const defaults = defaultConfig.approvals

/** Returns the `approvals:` section: what acode asks when neither a rule nor a plan decides. */
export function approvalsSection() {
  return z
    .strictObject({
      file_read: policy("file_read", "Reading, listing and searching files."),
      file_write: policy("file_write", "Creating and changing files."),
      file_delete: policy("file_delete", "Deleting files."),
      directory_create: policy("directory_create", "Creating directories."),
      terminal_commands: policy(
        "terminal_commands",
        "Commands that no built-in rule covers. `auto` runs them without asking, but only in a sandbox.",
      ),
      external_requests: policy(
        "external_requests",
        "Connections to other machines. `deny` refuses every command that needs the network, even with an approved plan or --yes; `auto` opens the network to no command.",
      ),
      non_interactive: z
        .enum(["deny", "rest"])
        .default(defaults.non_interactive)
        .describe(
          "What happens to a question without a terminal to ask on: `deny` refuses it, `rest` leaves it open and ends with exit code 10.",
        ),
      timeout_seconds: z
        .number()
        .int()
        .min(0)
        .max(604_800)
        .default(defaults.timeout_seconds)
        .describe(
          "Seconds that a question waits for an answer; 0 means no limit. After that the action is refused, or left open where non_interactive is rest; for a question about a plan or a review the session pauses with exit code 10.",
        ),
    })
    .prefault({})
    .describe("What acode asks before it acts, when neither a rule nor an approved plan decides.")
}

type Category = Exclude<keyof typeof defaults, "non_interactive" | "timeout_seconds">

function policy(category: Category, description: string) {
  return z.enum(policyChoices).default(defaults[category]).describe(description)
}
