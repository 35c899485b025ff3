import { z } from "zod"
import type { RulePolicy } from "../../policy/rules/rules.ts"
import { defaultConfig } from "../defaults.ts"

/** Spelled again: the table in the policy room brings all shipped rules along, which a start need not pay for. */
export const policyChoices = ["auto", "prompt", "deny", "skip"] as const satisfies readonly RulePolicy[]

const defaults = defaultConfig.approvals

/** The `approvals:` section: what is asked when neither a rule nor a plan says otherwise. */
export function approvalsSection() {
  return z
    .strictObject({
      file_read: policy("file_read", "Reading, listing and searching files."),
      file_write: policy("file_write", "Making and changing files."),
      file_delete: policy("file_delete", "Deleting files."),
      directory_create: policy("directory_create", "Making directories."),
      terminal_commands: policy(
        "terminal_commands",
        "Commands that are not known to be ordinary. `auto` runs unknown programs, in a sandbox only.",
      ),
      external_requests: policy(
        "external_requests",
        "Talking to other machines. `deny` holds for every command that does, whatever a plan or --yes says; `auto` opens the network to none.",
      ),
      non_interactive: z
        .enum(["deny", "rest"])
        .default(defaults.non_interactive)
        .describe(
          "When nobody can answer: `deny` refuses, `rest` leaves the question open and ends with exit code 10.",
        ),
      timeout_seconds: z
        .number()
        .int()
        .min(0)
        .max(604_800)
        .default(defaults.timeout_seconds)
        .describe(
          "How long a question waits for an answer; 0 waits for ever. Then an action is refused, or left open where non_interactive is rest, and a question about a plan or a review lets the session rest with exit code 10.",
        ),
    })
    .prefault({})
    .describe("What acode asks before it acts, when neither a rule nor an approved plan says otherwise.")
}

type Category = Exclude<keyof typeof defaults, "non_interactive" | "timeout_seconds">

function policy(category: Category, description: string) {
  return z.enum(policyChoices).default(defaults[category]).describe(description)
}
