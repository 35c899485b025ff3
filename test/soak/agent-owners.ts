import { ownersViolations } from "../support/agent/agent-owners.ts"
import type { Programme } from "./programme.ts"

export const agentOwners: Programme = {
  name: "agent-owners",
  summary: "eight processes resume one session at once: one drives it, the others say who does",
  count: 200,
  run: async ({ count, sandboxes, progress }) => {
    if (sandboxes.every(each => each === "none")) return []
    const found: string[] = []
    for (let index = 0; index < count; index++) {
      found.push(...(await ownersViolations(8)).map(problem => `#${index} ${problem}`))
      progress(index + 1)
    }
    return found
  },
}
