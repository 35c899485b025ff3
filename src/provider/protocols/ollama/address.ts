/** Adds the tag `latest`, as Ollama does where a name has none, and ignores the case. */
export function fullOllamaName(name: string): string {
  const lower = name.toLowerCase()
  return lower.lastIndexOf(":") > lower.lastIndexOf("/") ? lower : `${lower}:latest`
}

/**
 * Returns the endpoint that OLLAMA_HOST means, read as Ollama's own programs do: without a scheme the port is Ollama's,
 * with a scheme it is that scheme's. An address on which a server listens everywhere means this machine to a client.
 */
export function ollamaEndpoint(text: string): string {
  const [, scheme, rest = ""] = /^(?:(https?):\/\/)?(.*)$/i.exec(text) ?? []
  const [authority = ""] = rest.split("/", 1)
  const path = rest.slice(authority.length).replace(/\/+$/, "")
  const { host, port } = hostAndPort(authority)
  const usual = scheme === undefined ? ":11434" : ""
  return `${scheme?.toLowerCase() ?? "http"}://${reachable(host)}${port === null ? usual : `:${port}`}${path}`
}

function hostAndPort(authority: string): { readonly host: string; readonly port: string | null } {
  const [, bracketed, port] = /^(\[[^\]]*\])(?::(\d+))?$/.exec(authority) ?? []
  if (bracketed !== undefined) return { host: bracketed, port: port ?? null }
  const parts = authority.split(":")
  // More than one colon and no brackets is an IPv6 address without a port.
  if (parts.length > 2) return { host: `[${authority}]`, port: null }
  const [host = "", second] = parts
  return { host, port: second === undefined || second === "" ? null : second }
}

function reachable(host: string): string {
  if (host === "" || host === "0.0.0.0") return "127.0.0.1"
  return host === "[::]" ? "[::1]" : host.toLowerCase()
}
