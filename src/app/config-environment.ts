import type { Json } from "../base/canonical.ts"

/** A key whose value was given outside of any file. */
export interface Override {
  readonly key: string
  readonly value: Json
  /** The variable or flag, for the message when the value is not valid. */
  readonly source: string
}

/**
 * The few keys an environment may set, for CI jobs and containers that cannot write a file. The variable is the key in
 * capitals. Everything else belongs in a file, where it is seen and versioned.
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
