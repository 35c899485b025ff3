import { printable } from "../base/text.ts"
import { Failure } from "../domain/failure.ts"
import { readHostPattern } from "../domain/hosts.ts"
import { networkOfPlan, type Plan } from "../domain/plan/plan.ts"
import { opens, parseYes, type YesScopes } from "../policy/yes-scopes.ts"

/** The answers a person gave in advance: compiled for matching, and as they were written. */
export interface GivenYes {
  readonly scopes: YesScopes
  /** The scopes as written; the policy version contains them. */
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

/** Returns whether the scopes grant every network access in the plan; accepting a plan unseen grants none. */
export function opensNetworkOf(given: GivenYes | undefined, plan: Plan): boolean {
  const { isAll, hosts } = networkOfPlan(plan)
  const asked = hosts.map(readHostPattern)
  const patterns = asked.flatMap(reading => ("pattern" in reading ? [reading.pattern] : []))
  const { scopes } = given ?? { scopes: null }
  // An entry that does not parse opens nothing, and is refused when it is used.
  return [...(isAll ? ["all" as const] : []), ...patterns].every(
    each => scopes !== null && opens(scopes, each),
  )
}
