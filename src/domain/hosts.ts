/** A host as a request names it, normalized: lower case, without the final dot, an address without brackets. */
export interface Host {
  readonly name: string
  readonly address: Address | null
}

/**
 * One entry of an allowlist: `example.com`, `*.example.com`, `10.0.0.5`, `[2001:db8::1]`, each optionally with a
 * `:port`.
 */
export interface HostPattern {
  /** Without the `*.` of a wildcard. */
  readonly host: Host
  /** True if the entry means every name below `host`, and not `host` itself. */
  readonly isWildcard: boolean
  readonly ports: readonly number[]
}

export type HostReading = { readonly pattern: HostPattern } | { readonly problem: string }

/** The maximum number of hosts in one list. */
export const hostsMax = 64
/** The ports of `https:` and `http:`. */
const defaultPorts: readonly number[] = [443, 80]
/** The lowest port of a local service: a confined program cannot listen below it, so it cannot pose as one. */
const localPortMin = 1024

/** Parses one entry of an allowlist. For any other text returns the reason, worded to follow the entry. */
export function readHostPattern(text: string): HostReading {
  const parts = /^(\*\.)?(\[[^\]]*\]|[^:[\]]*)(?::(\d{1,5}))?$/.exec(text)
  if (parts === null || text.includes("/")) return { problem: problemOfShape(text) }
  const [, wildcard, written = "", port] = parts
  const host = readHost(written)
  if (host === null) return { problem: "is not a host name or an address in its usual notation" }
  if (port !== undefined && !isPort(Number(port))) return { problem: "has an invalid port" }
  const pattern = {
    host,
    isWildcard: wildcard !== undefined,
    ports: port === undefined ? defaultPorts : [Number(port)],
  }
  const problem = problemOf(pattern, port === undefined)
  return problem === null ? { pattern } : { problem }
}

/**
 * Parses a host as a request names it, with brackets around an IPv6 address; null for a host that no program should
 * send.
 */
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

/**
 * Returns whether a text is a host name. Some programs read a name that ends in a number as an address: `2130706433`,
 * `127.1`, `0x7f.0.0.1`.
 */
function isName(name: string): boolean {
  const labels = name.split(".")
  const isSound = labels.every(label => /^(?!-)[a-z0-9_-]{1,63}(?<!-)$/.test(label))
  return isSound && name.length <= 253 && !/^(?:\d+|0x[0-9a-f]*)$/.test(labels.at(-1) ?? "")
}

export function isPort(port: number): boolean {
  return Number.isInteger(port) && port >= 1 && port <= 65_535
}

/** Returns a host as it is written in an address. */
export function hostText({ name, address }: Host): string {
  return address?.length === 16 ? `[${name}]` : name
}

export function placeText(host: Host, port: number): string {
  return `${hostText(host)}:${port}`
}

/** Returns the entry in its canonical form: two entries that mean the same have the same text. */
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

/** Returns whether `granted` includes every host that `asked` names. */
export function coversHost(granted: HostPattern, asked: HostPattern): boolean {
  if (!asked.ports.every(port => granted.ports.includes(port))) return false
  if (!granted.isWildcard) return !asked.isWildcard && isSameHost(asked.host, granted.host)
  return isBelow(asked.host, granted.host) || (asked.isWildcard && isSameHost(asked.host, granted.host))
}

/**
 * Returns whether a name is `localhost` or below it: every program takes these to be this machine, whatever they
 * resolve to.
 */
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
  if (text.split(":").length > 2) return "is not a host; write an IPv6 address in brackets, as in [::1]:8080"
  return "is not a host, as example.com, *.example.com or localhost:8080 are"
}

function problemOf({ host, isWildcard, ports }: HostPattern, isPortLeftOut: boolean): string | null {
  const closed = closedHost(host)
  if (closed !== null) return closed
  if (host.address !== null && isMappedIpv4(host.address))
    return "is an IPv4 address; write it in IPv4 notation"
  if (isWildcard && (host.address !== null || !host.name.includes(".")))
    return "matches too many hosts: a wildcard needs a name with a dot, as in *.example.com"
  if (!isThisMachine(host)) return null
  if (isWildcard || isPortLeftOut) return "is this machine; name a single port, as in localhost:8080"
  return ports.some(port => port < localPortMin)
    ? `is a port of this machine below ${localPortMin}, which a confined command cannot reach`
    : null
}

/** Returns why no command may reach a host, even if it is allowed; null for all other hosts. */
export function closedHost({ name, address }: Host): string | null {
  if (address !== null)
    return kindOfAddress(address) === "closed"
      ? "is a link-local, metadata or reserved address, which no command may reach"
      : null
  return metadataNames.has(name)
    ? "is the metadata service of a cloud machine, which no command may reach"
    : null
}

/**
 * The names of metadata services. Their addresses are closed as well; checking the names gives an earlier, clearer
 * error.
 */
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

/** An IP address: 4 bytes, or 16. */
export type Address = readonly number[]

/**
 * The kind of network that an address belongs to: `public` is the internet, `private` a network that is not reachable
 * from outside, `loopback` this machine. No command ever reaches `closed`, even if it is allowed: link-local
 * addresses, the metadata services of cloud machines, which hand out credentials, and addresses that are not a single
 * machine.
 */
type AddressKind = "public" | "private" | "loopback" | "closed"

/**
 * Parses an address in its usual notation; null for everything else, such as `127.1`, `0x7f.0.0.1` or `010.0.0.1`.
 */
export function readAddress(text: string): Address | null {
  return text.includes(":") ? readIpv6(text) : readIpv4(text)
}

export function kindOfAddress(address: Address): AddressKind {
  for (const { kind, range, bits } of rangesFor(address)) {
    if (!isInside(address, range, bits)) continue
    if (kind === "public" || kind === "private" || kind === "loopback" || kind === "closed") return kind
    return kindOfAddress(address.slice(kind.ipv4At, kind.ipv4At + 4))
  }
  // On the internet only 2000::/3 is in use.
  return address.length === 4 ? "public" : "closed"
}

export function isSameAddress(one: Address, other: Address): boolean {
  return one.length === other.length && one.every((byte, index) => byte === other[index])
}

/** Returns whether an IPv6 address stands for an IPv4 one, which is then the address to print. */
export function isMappedIpv4(address: Address): boolean {
  return address.length === 16 && isInside(address, mapped, 96)
}

function readIpv4(text: string): Address | null {
  const parts = text.split(".")
  if (parts.length !== 4 || !parts.every(part => /^(?:0|[1-9]\d{0,2})$/.test(part))) return null
  const bytes = parts.map(Number)
  return bytes.every(byte => byte <= 255) ? bytes : null
}

function readIpv6(text: string): Address | null {
  const halves = text.split("::")
  if (halves.length > 2) return null
  const [head, tail] = halves.map((half, index) => groupsOf(half, index === halves.length - 1))
  if (head === null || head === undefined || tail === null) return null
  if (tail === undefined) return head.length === 16 ? head : null
  const missing = 16 - head.length - tail.length
  return missing < 2 ? null : [...head, ...Array<number>(missing).fill(0), ...tail]
}

/** Parses groups of an IPv6 address, of which the last one may be an IPv4 address. */
function groupsOf(text: string, isEnd: boolean): number[] | null {
  if (text === "") return []
  const groups = text.split(":")
  const bytes: number[] = []
  for (const [index, group] of groups.entries()) {
    const ipv4 = isEnd && index === groups.length - 1 && group.includes(".") ? readIpv4(group) : null
    if (ipv4 !== null) bytes.push(...ipv4)
    else if (/^[0-9a-f]{1,4}$/i.test(group))
      bytes.push(Number.parseInt(group, 16) >> 8, Number.parseInt(group, 16) & 255)
    else return null
  }
  return bytes
}

function isInside(address: Address, range: Address, bits: number): boolean {
  return range.every((byte, index) => {
    const significant = Math.min(8, Math.max(0, bits - index * 8))
    const shift = 8 - significant
    return byte >> shift === (address[index] ?? 0) >> shift
  })
}

interface AddressRange {
  readonly range: Address
  readonly bits: number
  /** An IPv6 address that contains an IPv4 address has the kind of that address. */
  readonly kind: AddressKind | { readonly ipv4At: number }
}

const mapped: Address = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 255, 255, 0, 0, 0, 0]

/**
 * The ranges of the registries of special-purpose addresses, and the metadata services that lie elsewhere. First
 * match wins.
 */
const table: readonly (readonly [string, AddressRange["kind"]])[] = [
  ["169.254.0.0/16", "closed"],
  // Metadata services of Alibaba, Azure and Oracle.
  ["100.100.100.200/32", "closed"],
  ["168.63.129.16/32", "closed"],
  ["192.0.0.192/32", "closed"],
  ["0.0.0.0/8", "closed"],
  ["224.0.0.0/4", "closed"],
  ["240.0.0.0/4", "closed"],
  ["127.0.0.0/8", "loopback"],
  ["10.0.0.0/8", "private"],
  ["100.64.0.0/10", "private"],
  ["172.16.0.0/12", "private"],
  ["192.168.0.0/16", "private"],
  ["192.0.0.0/24", "private"],
  ["192.0.2.0/24", "private"],
  ["198.18.0.0/15", "private"],
  ["198.51.100.0/24", "private"],
  ["203.0.113.0/24", "private"],
  ["fe80::/10", "closed"],
  // Metadata services of Amazon, Google and Scaleway.
  ["fd00:ec2::/32", "closed"],
  ["fd20:ce::/32", "closed"],
  ["fd00:42::42/128", "closed"],
  ["ff00::/8", "closed"],
  ["::1/128", "loopback"],
  ["::ffff:0:0/96", { ipv4At: 12 }],
  ["64:ff9b::/96", { ipv4At: 12 }],
  ["2002::/16", { ipv4At: 2 }],
  ["64:ff9b:1::/48", "private"],
  ["fc00::/7", "private"],
  ["fec0::/10", "private"],
  ["2001:db8::/32", "private"],
  ["3fff::/20", "private"],
  ["2001::/32", "closed"],
  ["2000::/3", "public"],
]

let ranges: readonly AddressRange[] | null = null

function rangesFor({ length }: Address): readonly AddressRange[] {
  ranges ??= table.map(([text, kind]) => {
    const [address = "", bits = ""] = text.split("/")
    return { range: readAddress(address) ?? [], bits: Number(bits), kind }
  })
  return ranges.filter(({ range }) => range.length === length)
}
