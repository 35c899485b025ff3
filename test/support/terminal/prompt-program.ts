import { readFileSync } from "node:fs"
import type { ApprovalQuestion } from "../../../src/app/approval-desk.ts"
import { Output } from "../../../src/cli/output.ts"
import { approvalPrompt } from "../../../src/cli/run/approval-prompt.ts"

/**
 * Asks each question of a file at the terminal it is started on, and says what was answered. SIGUSR1 dismisses the
 * prompt, as an answer from another terminal does; SIGUSR2 breaks it.
 */
const [file = ""] = process.argv.slice(2)
const questions = JSON.parse(readFileSync(file, "utf8")) as readonly ApprovalQuestion[]
const output = new Output({ color: false, quiet: false, json: false })
for (const question of questions) {
  const dismissal = new AbortController()
  const dismiss = () => dismissal.abort()
  process.on("SIGUSR1", dismiss)
  process.on("SIGUSR2", () => process.exit(3))
  const answer = await approvalPrompt(output)(question, dismissal.signal)
  process.off("SIGUSR1", dismiss)
  output.line(`ANSWER ${JSON.stringify(answer)}`)
}
