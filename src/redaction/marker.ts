/** The kinds of markers, with lower case letters and dashes only. */
export const redactionKinds = [
  "api-key",
  "authorization",
  "aws-key",
  "azure-secret",
  "connection-string",
  "cookie",
  "credential",
  "custom",
  "environment",
  "github-token",
  "gitlab-token",
  "google-key",
  "huggingface-token",
  "jwt",
  "npm-token",
  "password",
  "private-key",
  "pypi-token",
  "secret",
  "secret-key",
  "sendgrid-key",
  "signature",
  "slack-token",
  "stripe-key",
  "token",
  "url-password",
  "webhook",
] as const
export type RedactionKind = (typeof redactionKinds)[number]

export function markerOf(kind: RedactionKind): string {
  return `[REDACTED:${kind}]`
}

const markers = redactionKinds.map(markerOf)

/** Reports whether the text occurs in markers: as a secret it would be redacted again inside them. */
export function isMarkerText(text: string): boolean {
  return markers.some(marker => marker.includes(text))
}

/**
 * Removes characters that could overlap the edge of a marker: a secret that ends in `[` would be found again before a
 * marker, and `redact(redact(x))` would differ from `redact(x)`.
 */
export function withoutMarkerEdges(text: string): string {
  // Every end of a marker has its closing bracket, every start its opening one.
  if (!text.includes("]") && !text.includes("[")) return text
  for (const marker of markers)
    for (let length = 1; length < marker.length; length++) {
      if (text.startsWith(marker.slice(-length))) return withoutMarkerEdges(text.slice(length))
      if (text.endsWith(marker.slice(0, length))) return withoutMarkerEdges(text.slice(0, -length))
    }
  return text
}
