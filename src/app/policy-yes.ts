import { printable } from "../base/text.ts"
import { Failure } from "../domain/failure.ts"
import { readHostPattern } from "../domain/hosts.ts"
import { networkOfPlan, type Plan } from "../domain/plan/plan.ts"
import { opens, parseYes, type YesScopes } from "../policy/yes-scopes.ts"

/** What a person answered in advance, as it is matched and as it was written. */
export interface GivenYes {
  readonly scopes: YesScopes
  /** For the policy version: the scopes themselves are compiled. */
  readonly text: string
}

/** Reads `--yes[=SCOPES]`; `true` is the bare flag. Throws ACODE-YES-001…005 with everything that is wrong. */
export function readYes(flag: string | true, acknowledgesDanger: boolean): GivenYes {
  const parsed = parseYes(flag === true ? null : flag, acknowledgesDanger)
  if (parsed.scopes !== null) return { scopes: parsed.scopes, text: flag === true ? "default" : flag }
  const [first] = parsed.problems
  throw new Failure({
    kind: "usage",
    code: first.code,
    message: `--yes grants nothing: ${parsed.problems.map(({ message }) => printable(message)).join("; ")}`,
    where: "--yes",
    hint: "write --yes=file_write,terminal for example; without scopes it answers for reads and new directories",
  })
}

/** Whether the scopes open all that a plan asks of the network: accepting a plan unseen opens nothing of it. */
export function opensNetworkOf(given: GivenYes | undefined, plan: Plan): boolean {
  const { isAll, hosts } = networkOfPlan(plan)
  const asked = hosts.map(readHostPattern)
  const patterns = asked.flatMap(reading => ("pattern" in reading ? [reading.pattern] : []))
  const { scopes } = given ?? { scopes: null }
  // An entry that nobody can read opens nothing, and is refused when it is used.
  return [...(isAll ? ["all" as const] : []), ...patterns].every(
    each => scopes !== null && opens(scopes, each),
  )
}
