import { readEndpoint } from "../transport/endpoint.ts"

/** Where below an endpoint things are; null where it has no such place. */
export interface Paths {
  readonly chat: string
  readonly models: string
  /** Things that servers of this machine keep outside of the API that they copy. */
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
  const read = readEndpoint(endpoint)
  const outside = outsideOf(base, hasVersion, read.problem === undefined && read.isLocal)
  return { chat: `${api}/chat/completions`, models: `${api}/models`, outside }
}

/** The company's own servers differ from those that copy them: newer names of fields, nothing but the API itself. */
export function isOpenAiItself(endpoint: string): boolean {
  return /^https:\/\/(?:api\.openai\.com|[\w.-]+\.openai\.azure\.com)(?:[:/]|$)/i.test(endpoint)
}

/** llama.cpp and LM Studio have such pages. Who is elsewhere is not sent a key for what it hardly has. */
function outsideOf(base: string, hasVersion: boolean, isLocal: boolean): Paths["outside"] {
  if (!isLocal) return null
  if (!hasVersion) return path => path
  return base.endsWith("/v1") ? path => `/..${path}` : null
}
