import type { Endpoint } from "./contract.ts"

/** How a server is reached: what to ask, and what to call it. */
export interface Way {
  /** The endpoint's URL with an address in the place of `localhost`. */
  readonly url: string
  /** The name in the URL as it was written. */
  readonly host: string
}

/** The ways to a server, in their order. `localhost` is never looked up: a resolver may say that it is elsewhere. */
export function waysTo({ url }: Endpoint): readonly Way[] {
  const { host, hostname } = new URL(url)
  if (hostname !== "localhost") return [{ url, host }]
  return ["127.0.0.1", "[::1]"].map(address => ({ url: url.replace("//localhost", `//${address}`), host }))
}
