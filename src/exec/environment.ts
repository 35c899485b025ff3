import type { EnvironmentMode } from "../domain/command.ts"
import type { EnvironmentRules } from "../redaction/contract.ts"

/** The variable that identifies processes of an execution after acode died, where nothing confines them. */
const executionTag = "ACODE_EXECUTION_ID"

/** The owner of a command: a person's own gets what is not filtered out, any other only what is listed for it. */
export type CommandOwner = "person" | "agent"

export interface EnvironmentRequest {
  readonly executionId: string
  readonly owner: CommandOwner
  readonly mode: EnvironmentMode
  readonly host: Readonly<Record<string, string>>
  readonly command: Readonly<Record<string, string | null>>
  /** Patterns that configuration adds to those always left out. */
  readonly exclude: readonly string[]
  /** Names the configuration passes on although they would be left out. */
  readonly include: readonly string[]
  readonly rules: EnvironmentRules
  /** Redacts a value: a variable whose value has the form of a token is one, whatever its name is. */
  readonly redactText: (value: string) => string
}

/** Returns the whole environment of a process: every variable of the host passes the filter. */
export function childEnvironment(request: EnvironmentRequest): Record<string, string> {
  const environment = hostPart(request)
  for (const [name, value] of Object.entries(request.command)) {
    // A command that may only add neither replaces nor takes away what the host gives.
    if (request.mode === "inherit" && Object.hasOwn(environment, name)) continue
    if (value === null) delete environment[name]
    else environment[name] = value
  }
  environment[executionTag] = request.executionId
  return environment
}

/** Returns the requested variables that the environment really has: only these are recorded as its environment. */
export function appliedVariables(
  asked: Readonly<Record<string, string | null>>,
  environment: Readonly<Record<string, string>>,
): Record<string, string | null> {
  return Object.fromEntries(
    Object.entries(asked).filter(([name, value]) => (environment[name] ?? null) === value),
  )
}

function hostPart(request: EnvironmentRequest): Record<string, string> {
  const { host, include, rules } = request
  const named = new Set([...rules.alwaysIncluded, ...include])
  // A prototype would answer for names like `constructor`.
  const environment: Record<string, string> = Object.create(null)
  for (const [name, value] of Object.entries(host))
    if (named.has(name) || isInherited(request, name, value)) environment[name] = value
  return environment
}

function isInherited(
  { mode, owner, exclude, rules, redactText }: EnvironmentRequest,
  name: string,
  value: string,
): boolean {
  if (mode === "replace" || rules.isSecretName(name) || rules.isLoaderName(name)) return false
  if (owner === "agent" ? !rules.isForAgents(name, value) : rules.leadsToSecret(name, value)) return false
  // Addresses are judged by the rules: that of a proxy is needed with its password.
  if (value.length >= tokenLengthMin && !value.includes("://") && redactText(value) !== value) return false
  return !exclude.some(pattern => rules.matchesPattern(name, pattern))
}

const tokenLengthMin = 12
