import type { AppEnvironment } from "../config/environment.ts"
import type { RedactionStream } from "../redaction/contract.ts"
import { createRedactor } from "../redaction/redactor.ts"
import { secretValuesOf } from "../redaction/secret-names.ts"

/** Redaction without a workspace: the shipped rules and the secrets of the environment acode was started in. */
export function redactionStream(environment: AppEnvironment): RedactionStream {
  return createRedactor({ secretValues: secretValuesOf(environment.host), extraPatterns: [] }).stream()
}
