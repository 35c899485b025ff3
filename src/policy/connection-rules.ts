import {
  type Address,
  closedHost,
  type Host,
  type HostPattern,
  hostPatternText,
  isLocalName,
  isMappedIpv4,
  isSameAddress,
  isThisMachine,
  kindOfAddress,
  matchesHost,
  placeText,
  readAddress,
} from "../domain/hosts.ts"

export interface AllowedHosts {
  readonly patterns: readonly HostPattern[]
  /** Returns the reason why configuration refuses a host to every command, or null. */
  readonly hostRefusal: (host: string) => string | null
  /** Returns the present addresses of this machine. */
  readonly ownAddresses: () => readonly string[]
}

/**
 * Returns the rules that decide each connection of a command. The list allows a name, and then each address of the
 * name has to be a public one: the owner of the name could else direct the command to this machine or its neighbours.
 * Such an address has to be on the list itself.
 */
export function connectionRules({ patterns, hostRefusal, ownAddresses }: AllowedHosts) {
  const isListed = (address: Address, port: number) =>
    patterns.some(
      ({ host, ports }) =>
        host.address !== null && isSameAddress(host.address, address) && ports.includes(port),
    )
  const names = patterns.map(hostPatternText).join(", ")
  return {
    refusalOf: (host: Host, port: number): string | null => {
      const closed = closedHost(host)
      if (closed !== null) return `it ${closed}`
      if (!patterns.some(pattern => matchesHost(pattern, host, port)))
        return `it is not among the hosts this command may reach (${names})`
      return hostRefusal(placeText(host, port))
    },
    refusalOfAddress: (text: string, host: Host, port: number): string | null => {
      const read = readAddress(text)
      if (read === null) return `it stands for ${text}, which is not an address`
      const address = isMappedIpv4(read) ? read.slice(12) : read
      const kind = kindOfAddress(address)
      const subject = host.name === text ? "it" : `it stands for ${text}, which`
      if (kind === "closed")
        return `${subject} is a link-local, metadata or reserved address, which stays closed`
      if (isListed(address, port) || (isLocalName(host) && kind === "loopback")) return null
      const isOwn = ownAddresses().some(own => isSameAddress(readAddress(own) ?? [], address))
      if (kind === "public" && !isOwn) return null
      const what = isOwn || kind === "loopback" ? "this machine" : "a private network"
      return `${subject} is of ${what}; only a list that names that address opens it`
    },
    localPorts: [
      ...new Set(patterns.filter(({ host }) => isThisMachine(host)).flatMap(({ ports }) => ports)),
    ],
  }
}
