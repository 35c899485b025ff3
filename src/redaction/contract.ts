/**
 * Replaces secrets by `[REDACTED:kind]`. Pure, linear in the input, and `redact(redact(x)) === redact(x)`. A secret
 * that is found in a text is replaced wherever else it stands in it, also URL-encoded, escaped for JSON and in base64.
 */
export interface Redactor {
  redactText(text: string): string
  /** What `redactText` would replace, in order and apart from each other: the rest of the text is kept as it is. */
  redactSpans(text: string): readonly RedactedSpan[]
  /** For output of programs: bytes that are no secret come back as they were, valid UTF-8 or not. */
  redactBytes(bytes: Uint8Array): Uint8Array
  /** Several parts of one text: what is found in one of them is replaced in all. */
  redactParts(parts: readonly Uint8Array[]): readonly Uint8Array[]
  /**
   * A secret that is split over two pushes is still found; what is held back comes out with `end`. What is out is out:
   * a secret is replaced wherever it stands behind the place where it was found.
   */
  stream(): RedactionStream
}

/** A part of a text and what stands in its place once the text is redacted. */
export interface RedactedSpan {
  readonly start: number
  readonly end: number
  /** A marker, or text with markers in it where several replacements met. */
  readonly replacement: string
}

export interface RedactionStream {
  push(chunk: Uint8Array): Uint8Array
  end(): Uint8Array
}

/** Which variables of the host a command may see. Pure tables; the modes and the merging are `exec/environment`. */
export interface EnvironmentRules {
  /** `API_TOKEN`, `DATABASE_URL`, …: the value is likely a secret, whatever it is. */
  isSecretName(name: string): boolean
  /** `SSH_AUTH_SOCK`, `KUBECONFIG`, an address with a password, …: whoever has the value can get at a secret. */
  leadsToSecret(name: string, value: string): boolean
  /** `CARGO_HOME`, `NO_COLOR`, …: all that a command of a model or a plan gets besides `alwaysIncluded`. */
  isForAgents(name: string, value: string): boolean
  /** `LD_PRELOAD`, `NODE_OPTIONS`, `BASH_ENV`, …: the value makes another program load or run something. */
  isLoaderName(name: string): boolean
  /** Patterns are names in which `*` stands for anything. */
  matchesPattern(name: string, pattern: string): boolean
  /** PATH, HOME and the like: passed on in every mode, whatever a pattern says. */
  readonly alwaysIncluded: readonly string[]
}
