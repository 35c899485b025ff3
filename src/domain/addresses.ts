/** An IP address: 4 bytes, or 16. */
export type Address = readonly number[]

/**
 * What may stand behind an address: `public` is the network outside, `private` a network that is not reached from
 * outside, `loopback` this machine. `closed` is never reached by a command, whoever names it: link-local addresses and
 * the metadata services of cloud machines, which hand out credentials, and what is no single machine.
 */
export type AddressKind = "public" | "private" | "loopback" | "closed"

/** Reads an address in its usual spelling; null for everything else, such as `127.1`, `0x7f.0.0.1` or `010.0.0.1`. */
export function readAddress(text: string): Address | null {
  return text.includes(":") ? readIpv6(text) : readIpv4(text)
}

export function kindOfAddress(address: Address): AddressKind {
  for (const { kind, range, bits } of rangesFor(address)) {
    if (!isInside(address, range, bits)) continue
    if (kind === "public" || kind === "private" || kind === "loopback" || kind === "closed") return kind
    return kindOfAddress(address.slice(kind.ipv4At, kind.ipv4At + 4))
  }
  // Nothing but 2000::/3 is in use outside.
  return address.length === 4 ? "public" : "closed"
}

export function isSameAddress(one: Address, other: Address): boolean {
  return one.length === other.length && one.every((byte, index) => byte === other[index])
}

/** Returns whether an IPv6 address stands for an IPv4 one, which is then the address to write. */
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

/** The last group of all may be an IPv4 address. */
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
  /** An IPv6 address in which an IPv4 address stands is what that address is. */
  readonly kind: AddressKind | { readonly ipv4At: number }
}

const mapped: Address = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 255, 255, 0, 0, 0, 0]

/** From the registries of special-purpose addresses, and the metadata services that lie elsewhere. First match wins. */
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
