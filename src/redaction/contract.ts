/**
 * Replaces secrets by `[REDACTED:kind]`. Pure, linear in the input, and `redact(redact(x)) === redact(x)`. A secret
 * that is found in a text is replaced everywhere in that text, also URL-encoded, escaped for JSON and in base64.
 */
export interface Redactor {
  redactText(text: string): string
  /**
   * Returns the spans that `redactText` would replace, in order and without overlap: the rest of the text does not
   * change.
   */
  redactSpans(text: string): readonly RedactedSpan[]
  /** Redacts the output of programs: bytes outside secrets are returned unchanged, valid UTF-8 or not. */
  redactBytes(bytes: Uint8Array): Uint8Array
  /** Redacts the parts of one text: a secret that is found in one part is replaced in all. */
  redactParts(parts: readonly Uint8Array[]): readonly Uint8Array[]
  /**
   * Returns a stream that finds a secret even when it is split over two pushes; `end` returns the bytes that were
   * held back. Bytes that were returned cannot be redacted later: a secret is replaced only behind the place where it
   * was first found.
   */
  stream(): RedactionStream
}

/** A span of a text and its replacement. */
export interface RedactedSpan {
  readonly start: number
  readonly end: number
  /** A marker, or text with markers where several replacements meet. */
  readonly replacement: string
}

export interface RedactionStream {
  push(chunk: Uint8Array): Uint8Array
  end(): Uint8Array
}

/**
 * Decides which variables of the host a command gets. Pure tables; `exec/environment` has the modes and the merging.
 */
export interface EnvironmentRules {
  /** Reports whether the value is likely a secret, whatever its form: `API_TOKEN`, `DATABASE_URL`, … */
  isSecretName(name: string): boolean
  /**
   * Reports whether the value gives access to a secret: `SSH_AUTH_SOCK`, `KUBECONFIG`, an address with a password, …
   */
  leadsToSecret(name: string, value: string): boolean
  /**
   * Reports whether a command of a model or a plan gets the variable besides `alwaysIncluded`: `CARGO_HOME`,
   * `NO_COLOR`, …
   */
  isForAgents(name: string, value: string): boolean
  /**
   * Reports whether the value makes another program load or run something: `LD_PRELOAD`, `NODE_OPTIONS`, `BASH_ENV`,
   * …
   */
  isLoaderName(name: string): boolean
  /** Reports whether a name matches a pattern, which is a name in which `*` stands for any text. */
  matchesPattern(name: string, pattern: string): boolean
  /** The variables that every command gets, whatever the patterns: PATH, HOME and similar ones. */
  readonly alwaysIncluded: readonly string[]
}
