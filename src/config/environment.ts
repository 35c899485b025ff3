import { homedir } from "node:os"
import { isAbsolute, join } from "node:path"
import type { Json } from "../base/canonical.ts"
import { oneLine } from "../base/text.ts"
import { Failure } from "../domain/failure.ts"
import { protocolVariables } from "../provider/protocol.ts"

/** A key whose value comes from a variable or a flag. */
export interface Override {
  readonly key: string
  readonly value: Json
  /** The variable or flag, for the message when the value is not valid. */
  readonly source: string
}

/**
 * The few keys that a variable may set, for CI jobs and containers that cannot write a file. The variable is the key in
 * capitals. Every other key belongs in a file, where it is visible and versioned.
 */
export const configVariables: readonly {
  readonly variable: string
  readonly key: string
  readonly isNumber: boolean
}[] = [
  { variable: "ACODE_EXECUTION_SANDBOX", key: "execution.sandbox", isNumber: false },
  { variable: "ACODE_EXECUTION_NETWORK", key: "execution.network", isNumber: false },
  {
    variable: "ACODE_EXECUTION_DEFAULT_TIMEOUT_SECONDS",
    key: "execution.default_timeout_seconds",
    isNumber: true,
  },
  { variable: "ACODE_EXECUTION_MAX_CONCURRENT", key: "execution.max_concurrent", isNumber: true },
  { variable: "ACODE_MODE_DEFAULT", key: "mode.default", isNumber: false },
  { variable: "ACODE_MODEL_PROVIDER", key: "model.provider", isNumber: false },
  { variable: "ACODE_MODEL_ENDPOINT", key: "model.endpoint", isNumber: false },
  { variable: "ACODE_MODEL_NAME", key: "model.name", isNumber: false },
]

export function environmentOverrides(host: Readonly<Record<string, string>>): Override[] {
  return configVariables.flatMap(({ variable, key, isNumber }) => {
    const text = host[variable]
    if (text === undefined || text === "") return []
    const isDecimal = isNumber && /^-?[0-9]+(\.[0-9]+)?$/.test(text)
    return [{ key, value: isDecimal ? Number(text) : text, source: variable }]
  })
}

/** Everything that acode reads from its environment, read once and checked. */
export interface AppEnvironment {
  /** All variables, for the processes that acode starts; each process gets a filtered copy. */
  readonly host: Readonly<Record<string, string>>
  readonly home: string
  readonly xdgConfigHome: string
  readonly xdgDataHome: string
  readonly xdgCacheHome: string
  readonly xdgStateHome: string
  /** Holds the state of workspaces instead of `acode/` in the XDG directory for state. */
  readonly stateDirectory: string | null
  readonly noColor: boolean
  readonly ci: boolean
  readonly nonInteractive: boolean
  readonly json: boolean
  /** The number of the fault point at which the program kills itself; only crash tests set it. */
  readonly failpoint: number | null
  /** The `sha256:…` of a project file that is trusted for this invocation. */
  readonly trustProject: string | null
  /** A file that replaces the project file, as `--config` does. */
  readonly configFile: string | null
  readonly editor: string | null
  /** Keys and addresses of model servers: the variables of `protocolVariables` that are set, by name. */
  readonly modelVariables: Readonly<Record<string, string>>
}

/** Reads process.env, as the only function that may. Throws one Failure that names every malformed variable. */
export function readEnvironment(
  variables: Readonly<Record<string, string | undefined>> = process.env,
): AppEnvironment {
  const problems: string[] = []
  const read: Reading = { variables, problems }
  const home = absolute(variables["HOME"]) ?? homedir()
  const environment: AppEnvironment = {
    host: present(variables),
    home,
    // The XDG specification says to ignore a relative directory: it would differ with each working directory.
    xdgConfigHome: absolute(variables["XDG_CONFIG_HOME"]) ?? join(home, ".config"),
    xdgDataHome: absolute(variables["XDG_DATA_HOME"]) ?? join(home, ".local", "share"),
    xdgCacheHome: absolute(variables["XDG_CACHE_HOME"]) ?? join(home, ".cache"),
    xdgStateHome: absolute(variables["XDG_STATE_HOME"]) ?? join(home, ".local", "state"),
    stateDirectory: readDirectory(read, "ACODE_STATE_DIR"),
    noColor: text(variables["NO_COLOR"]) !== null,
    ci: !["", "0", "false"].includes((variables["CI"] ?? "").toLowerCase()),
    nonInteractive: readSwitch(read, "ACODE_NON_INTERACTIVE"),
    json: readSwitch(read, "ACODE_JSON"),
    failpoint: readCount(read, "ACODE_FAILPOINT"),
    trustProject: readHash(read, "ACODE_TRUST_PROJECT"),
    configFile: text(variables["ACODE_CONFIG_FILE"]),
    editor: text(variables["EDITOR"]),
    modelVariables: Object.fromEntries(
      protocolVariables.flatMap(name => {
        const value = text(variables[name]?.trim())
        return value === null ? [] : [[name, value]]
      }),
    ),
  }
  if (problems.length > 0) throw malformed(problems)
  return environment
}

interface Reading {
  readonly variables: Readonly<Record<string, string | undefined>>
  readonly problems: string[]
}

function present(variables: Readonly<Record<string, string | undefined>>): Record<string, string> {
  const found: Record<string, string> = {}
  for (const [name, value] of Object.entries(variables)) if (value !== undefined) found[name] = value
  return found
}

function absolute(value: string | undefined): string | null {
  return value !== undefined && isAbsolute(value) ? value : null
}

function text(value: string | undefined): string | null {
  return value === undefined || value === "" ? null : value
}

function readSwitch({ variables, problems }: Reading, name: string): boolean {
  const value = (variables[name] ?? "").toLowerCase()
  if (["1", "true", "yes"].includes(value)) return true
  if (!["", "0", "false", "no"].includes(value)) problems.push(`${name} is ${shown(value)}; allowed: 1 or 0`)
  return false
}

function readCount({ variables, problems }: Reading, name: string): number | null {
  const value = text(variables[name])
  if (value === null) return null
  if (/^[1-9][0-9]{0,8}$/.test(value)) return Number(value)
  problems.push(`${name} is ${shown(value)}; allowed: a whole number from 1`)
  return null
}

function readDirectory({ variables, problems }: Reading, name: string): string | null {
  const value = text(variables[name])
  if (value === null || isAbsolute(value)) return value
  problems.push(`${name} is ${shown(value)}; allowed: an absolute path`)
  return null
}

function readHash({ variables, problems }: Reading, name: string): string | null {
  const value = text(variables[name])
  if (value === null || /^sha256:[0-9a-f]{64}$/.test(value)) return value
  problems.push(
    `${name} is ${shown(value)}; allowed: sha256: and 64 digits, as \`acode config trust\` prints it`,
  )
  return null
}

function shown(value: string): string {
  return oneLine(JSON.stringify(value), 40)
}

function malformed(problems: readonly string[]): Failure {
  return new Failure({
    kind: "config",
    code: "ACODE-CFG-003",
    message: `environment variables are not valid: ${problems.join("; ")}`,
    where: "environment",
    hint: "correct or unset the named variables",
  })
}
