import type { RedactionStream } from "../policy/contract.ts"
import { secretValuesOf } from "../policy/environment-rules.ts"
import { createRedactor } from "../policy/redactor.ts"
import type { AppEnvironment } from "./environment.ts"

/** Redaction without a workspace: the shipped rules and the secrets of the environment acode was started in. */
export function redactionStream(environment: AppEnvironment): RedactionStream {
  return createRedactor({ secretValues: secretValuesOf(environment.host), extraPatterns: [] }).stream()
}
