import { type Address, isMappedIpv4, isSameAddress, kindOfAddress, readAddress } from "./addresses.ts"

/** A host as a request names it, in one spelling: lower case, without the final dot, an address without brackets. */
export interface Host {
  readonly name: string
  readonly address: Address | null
}

/** One entry of an allowlist: `example.com`, `*.example.com`, `10.0.0.5`, `[2001:db8::1]`, each also with a `:port`. */
export interface HostPattern {
  /** Without the `*.` of a wildcard. */
  readonly host: Host
  /** Every name below `host`, and not `host` itself. */
  readonly isWildcard: boolean
  readonly ports: readonly number[]
}

export type HostReading = { readonly pattern: HostPattern } | { readonly problem: string }

/** How many hosts one list may name. */
export const hostsMax = 64
/** For `http:` and `https:`. */
const defaultPorts: readonly number[] = [443, 80]
/** Below it a confined program cannot listen, and so nothing can stand there for a service of this machine. */
const localPortMin = 1024

/** Reads one entry of an allowlist, or says in words that fit behind the entry why it is not one. */
export function readHostPattern(text: string): HostReading {
  const parts = /^(\*\.)?(\[[^\]]*\]|[^:[\]]*)(?::(\d{1,5}))?$/.exec(text)
  if (parts === null || text.includes("/")) return { problem: problemOfShape(text) }
  const [, wildcard, written = "", port] = parts
  const host = readHost(written)
  if (host === null) return { problem: "is not a host name or an address in its usual spelling" }
  if (port !== undefined && !isPort(Number(port))) return { problem: "has a port that is not one" }
  const pattern = {
    host,
    isWildcard: wildcard !== undefined,
    ports: port === undefined ? defaultPorts : [Number(port)],
  }
  const problem = problemOf(pattern, port === undefined)
  return problem === null ? { pattern } : { problem }
}

/** Reads a host as a request names it, with brackets around an IPv6 address; null for what no program should send. */
export function readHost(text: string): Host | null {
  const bracketed = /^\[(.*)\]$/.exec(text)?.[1]
  if (bracketed !== undefined) {
    const address = bracketed.includes(":") ? readAddress(bracketed.toLowerCase()) : null
    return address === null ? null : { name: bracketed.toLowerCase(), address }
  }
  const name = text.toLowerCase().replace(/\.$/, "")
  const address = name.includes(":") ? null : readAddress(name)
  if (address !== null) return { name, address }
  return isName(name) ? { name, address: null } : null
}

/** A name that ends in a number would be an address for some programs: `2130706433`, `127.1`, `0x7f.0.0.1`. */
function isName(name: string): boolean {
  const labels = name.split(".")
  const isSound = labels.every(label => /^(?!-)[a-z0-9_-]{1,63}(?<!-)$/.test(label))
  return isSound && name.length <= 253 && !/^(?:\d+|0x[0-9a-f]*)$/.test(labels.at(-1) ?? "")
}

export function isPort(port: number): boolean {
  return Number.isInteger(port) && port >= 1 && port <= 65_535
}

/** Returns a host as it stands in an address. */
export function hostText({ name, address }: Host): string {
  return address?.length === 16 ? `[${name}]` : name
}

export function placeText(host: Host, port: number): string {
  return `${hostText(host)}:${port}`
}

/** Returns the entry in one spelling: two entries that mean the same have the same text. */
export function hostPatternText({ host, isWildcard, ports }: HostPattern): string {
  const port = ports.length === 1 ? `:${ports[0]}` : ""
  return `${isWildcard ? "*." : ""}${hostText(host)}${port}`
}

export function matchesHost(
  { host: allowed, isWildcard, ports }: HostPattern,
  host: Host,
  port: number,
): boolean {
  return ports.includes(port) && (isWildcard ? isBelow(host, allowed) : isSameHost(host, allowed))
}

/** Whether everything that `asked` names is named by `granted`. */
export function coversHost(granted: HostPattern, asked: HostPattern): boolean {
  if (!asked.ports.every(port => granted.ports.includes(port))) return false
  if (!granted.isWildcard) return !asked.isWildcard && isSameHost(asked.host, granted.host)
  return isBelow(asked.host, granted.host) || (asked.isWildcard && isSameHost(asked.host, granted.host))
}

/** `localhost` and the names below it mean this machine for every program, whatever they resolve to. */
export function isLocalName({ name, address }: Host): boolean {
  return address === null && (name === "localhost" || name.endsWith(".localhost"))
}

export function isThisMachine(host: Host): boolean {
  return isLocalName(host) || (host.address !== null && kindOfAddress(host.address) === "loopback")
}

function isSameHost(one: Host, other: Host): boolean {
  if (one.address !== null && other.address !== null) return isSameAddress(one.address, other.address)
  return one.address === null && other.address === null && one.name === other.name
}

function isBelow({ name, address }: Host, above: Host): boolean {
  return address === null && name.endsWith(`.${above.name}`)
}

function problemOfShape(text: string): string {
  if (text.includes("/")) return "is not a host; leave out the scheme and the path, as in example.com"
  if (text.split(":").length > 2) return "is not a host; an IPv6 address stands in brackets, as in [::1]:8080"
  return "is not a host, as example.com, *.example.com or localhost:8080 are"
}

function problemOf({ host, isWildcard, ports }: HostPattern, isPortLeftOut: boolean): string | null {
  const closed = closedHost(host)
  if (closed !== null) return closed
  if (host.address !== null && isMappedIpv4(host.address)) return "is an IPv4 address; write it as one"
  if (isWildcard && (host.address !== null || !host.name.includes(".")))
    return "names too much: a wildcard stands before a name with a dot, as in *.example.com"
  if (!isThisMachine(host)) return null
  if (isWildcard || isPortLeftOut)
    return "is this machine, of which only single ports are opened, as in localhost:8080"
  return ports.some(port => port < localPortMin)
    ? `is a port of this machine below ${localPortMin}, which cannot be opened to a confined command`
    : null
}

/** Why no command reaches a host, whoever names it; null for all others. */
export function closedHost({ name, address }: Host): string | null {
  if (address !== null)
    return kindOfAddress(address) === "closed"
      ? "is a link-local, metadata or reserved address, which stays closed"
      : null
  return metadataNames.has(name) ? "is the metadata service of a cloud machine, which stays closed" : null
}

/** Their addresses are closed as well; the names say sooner what was wrong. */
const metadataNames: ReadonlySet<string> = new Set([
  "metadata",
  "metadata.google.internal",
  "metadata.goog",
  "instance-data",
  "instance-data.ec2.internal",
  "metadata.tencentyun.com",
  "metadata.packet.net",
  "metadata.platformequinix.com",
])
