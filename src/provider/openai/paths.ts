/** Where below an endpoint things are; null where it has no such place. */
export interface Paths {
  readonly chat: string
  readonly models: string
  /** Things that servers keep outside of the API that they copy. */
  readonly outside: ((path: string) => string) | null
}

/**
 * People configure `http://127.0.0.1:8080` as well as `http://127.0.0.1:8080/v1`, and other versions where a server has
 * them. A path with a version in it is complete as it is.
 */
export function pathsBelow(endpoint: string): Paths {
  // The path of a socket is no part of what is asked for.
  const base = endpoint.startsWith("unix:") ? "" : endpoint.replace(/\/+$/, "")
  const hasVersion = /\/v\d+[a-z]*\d*(?:\/|$)/i.test(base)
  const api = hasVersion ? "" : "/v1"
  return { chat: `${api}/chat/completions`, models: `${api}/models`, outside: outsideOf(base, hasVersion) }
}

/** The company's own servers differ from those that copy them: newer names of fields, nothing but the API itself. */
export function isOpenAiItself(endpoint: string): boolean {
  return /^https:\/\/(?:api\.openai\.com|[\w.-]+\.openai\.azure\.com)(?:[:/]|$)/i.test(endpoint)
}

function outsideOf(base: string, hasVersion: boolean): Paths["outside"] {
  if (isOpenAiItself(base)) return null
  if (!hasVersion) return path => path
  return base.endsWith("/v1") ? path => `/..${path}` : null
}
