import { describe, expect, test } from "bun:test"
import { BlockList, isIP } from "node:net"
import fc from "fast-check"
import {
  coversHost,
  type HostPattern,
  hostPatternText,
  kindOfAddress,
  matchesHost,
  readAddress,
  readHost,
  readHostPattern,
} from "../../src/domain/hosts.ts"

const patternOf = (text: string): HostPattern => {
  const reading = readHostPattern(text)
  if ("problem" in reading) throw new Error(`${text} ${reading.problem}`)
  return reading.pattern
}
const problemOf = (text: string) => {
  const reading = readHostPattern(text)
  return "problem" in reading ? reading.problem : null
}

describe("an address", () => {
  test("is read exactly where the runtime reads one, but for zones", () => {
    const text = fc.oneof(
      fc.ipV4(),
      fc.ipV6(),
      fc.stringMatching(/^[0-9a-f:.x]{1,24}$/),
      fc.constantFrom(
        "::",
        "::1",
        "1::",
        ":1::",
        "1:::2",
        "::ffff:1.2.3.4",
        "1.2.3.4::",
        "01.2.3.4",
        "127.1",
      ),
    )
    fc.assert(
      fc.property(text, value => {
        expect(readAddress(value) !== null).toBe(isIP(value) !== 0)
      }),
      { numRuns: 2_000, seed: 11 },
    )
  })

  /** The registries of IANA, as another implementation of ranges matches them. */
  const special = new BlockList()
  for (const range of [
    ...["0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12"],
    ...[
      "192.0.0.0/24",
      "192.0.2.0/24",
      "192.168.0.0/16",
      "198.18.0.0/15",
      "198.51.100.0/24",
      "203.0.113.0/24",
    ],
    ...["224.0.0.0/4", "240.0.0.0/4"],
  ]) {
    const [address = "", bits] = range.split("/")
    special.addSubnet(address, Number(bits), "ipv4")
  }

  test("is public only outside of every range that is set aside", () => {
    const near = fc.constantFrom(
      ...["9", "10", "11", "100", "126", "127", "128", "169", "172", "192", "198", "203", "223"],
    )
    const ipv4 = fc.oneof(
      fc.ipV4(),
      fc.tuple(near, fc.ipV4()).map(([first, rest]) => rest.replace(/^\d+/, first)),
    )
    fc.assert(
      fc.property(ipv4, text => {
        const address = readAddress(text) ?? []
        const expected = !special.check(text, "ipv4") && text !== "168.63.129.16"
        expect(kindOfAddress(address) === "public").toBe(expected)
        // The same address in its IPv6 clothes is what it is without them.
        for (const clothes of [`::ffff:${text}`, `64:ff9b::${text}`])
          expect(kindOfAddress(readAddress(clothes) ?? [])).toBe(kindOfAddress(address))
      }),
      { numRuns: 3_000, seed: 12 },
    )
  })

  const kinds: readonly (readonly [string, string])[] = [
    ["127.0.0.53", "loopback"],
    ["::1", "loopback"],
    ["::ffff:127.0.0.1", "loopback"],
    ["2002:7f00:1::", "loopback"],
    ["2002:a9fe:a9fe::", "closed"],
    ["10.1.2.3", "private"],
    ["100.64.0.1", "private"],
    ["fd12::1", "private"],
    ["169.254.169.254", "closed"],
    ["169.254.170.2", "closed"],
    ["100.100.100.200", "closed"],
    ["168.63.129.16", "closed"],
    ["192.0.0.192", "closed"],
    ["fd00:ec2::254", "closed"],
    ["fd20:ce::254", "closed"],
    ["fe80::1", "closed"],
    ["febf::1", "closed"],
    ["0.0.0.0", "closed"],
    ["::", "closed"],
    ["255.255.255.255", "closed"],
    ["224.0.0.1", "closed"],
    ["ff02::1", "closed"],
    ["2001:0:1::1", "closed"],
    ["4000::1", "closed"],
    ["93.184.216.34", "public"],
    ["2606:4700::1111", "public"],
    ["2001:4860:4860::8888", "public"],
  ]
  test.each(kinds)("%s is %s", (text, kind) => {
    expect(kindOfAddress(readAddress(text) ?? [])).toBe(kind as never)
  })
})

describe("an entry of an allowlist", () => {
  const good: readonly (readonly [string, string])[] = [
    ["Example.COM.", "example.com"],
    ["example.com:8443", "example.com:8443"],
    ["*.example.com", "*.example.com"],
    ["*.example.com:80", "*.example.com:80"],
    ["10.0.0.5", "10.0.0.5"],
    ["[2001:DB8::1]:8080", "[2001:db8::1]:8080"],
    ["localhost:8080", "localhost:8080"],
    ["127.0.0.1:1024", "127.0.0.1:1024"],
    ["xn--bcher-kva.example", "xn--bcher-kva.example"],
    ["_dmarc.example.com", "_dmarc.example.com"],
    ["intranet", "intranet"],
  ]
  test.each(good)("%s is %s", (written, text) => {
    expect(hostPatternText(patternOf(written))).toBe(text)
    expect(patternOf(text)).toEqual(patternOf(written))
  })

  const bad: readonly (readonly [string, string])[] = [
    ["", "not a host name"],
    ["*", "not a host name"],
    ["*.com", "matches too many hosts"],
    ["*.", "not a host name"],
    ["a.*.com", "not a host name"],
    ["https://example.com", "leave out the scheme"],
    ["example.com/path", "leave out the scheme"],
    ["user@example.com", "not a host name"],
    ["example.com:0", "port"],
    ["example.com:65536", "port"],
    ["example.com:http", "not a host"],
    ["::1", "in brackets"],
    ["[::1%eth0]:8080", "not a host name"],
    ["[::ffff:10.0.0.1]", "write it in IPv4 notation"],
    ["exa mple.com", "not a host name"],
    ["exa\u0000mple.com", "not a host name"],
    ["bücher.example", "not a host name"],
    ["-a.example", "not a host name"],
    ["a..example", "not a host name"],
    ["2130706433", "not a host name"],
    ["0x7f000001", "not a host name"],
    ["127.1", "not a host name"],
    ["0177.0.0.1", "not a host name"],
    ["a.0x1", "not a host name"],
    ["localhost", "name a single port"],
    ["db.localhost", "name a single port"],
    ["*.a.localhost:8080", "name a single port"],
    ["127.0.0.1", "name a single port"],
    ["localhost:80", "below 1024"],
    ["169.254.169.254", "which no command may reach"],
    ["169.254.169.254:80", "which no command may reach"],
    ["[fd00:ec2::254]", "which no command may reach"],
    ["metadata.google.internal", "which no command may reach"],
    ["METADATA.google.internal.:80", "which no command may reach"],
    ["0.0.0.0:8080", "which no command may reach"],
  ]
  test.each(bad)("%j is none: %s", (written, problem) => {
    expect(problemOf(written)).toContain(problem)
  })

  test("matches its own host and ports, and a wildcard what is below it", () => {
    const matches = (pattern: string, host: string, port: number) =>
      matchesHost(patternOf(pattern), readHost(host) ?? { name: "", address: null }, port)
    expect(matches("example.com", "EXAMPLE.com.", 443)).toBe(true)
    expect(matches("example.com", "example.com", 80)).toBe(true)
    expect(matches("example.com", "example.com", 22)).toBe(false)
    expect(matches("example.com:22", "example.com", 443)).toBe(false)
    expect(matches("example.com", "a.example.com", 443)).toBe(false)
    expect(matches("example.com", "notexample.com", 443)).toBe(false)
    expect(matches("*.example.com", "a.b.example.com", 443)).toBe(true)
    expect(matches("*.example.com", "example.com", 443)).toBe(false)
    expect(matches("*.example.com", "evilexample.com", 443)).toBe(false)
    expect(matches("*.example.com", "a.example.com.evil.org", 443)).toBe(false)
    expect(matches("[2001:db8::1]", "[2001:0db8:0:0::0001]", 443)).toBe(true)
  })

  test("is covered by what matches at least as much", () => {
    const label = fc.constantFrom("a", "b", "example", "com")
    const name = fc.array(label, { minLength: 2, maxLength: 4 }).map(labels => labels.join("."))
    const port = fc.constantFrom("", ":443", ":8080")
    const entry = fc.tuple(fc.constantFrom("", "*."), name, port).map(parts => parts.join(""))
    fc.assert(
      fc.property(entry, entry, name, fc.constantFrom(80, 443, 8080), (granted, asked, host, at) => {
        const [wide, narrow, named] = [patternOf(granted), patternOf(asked), readHost(host)]
        if (named === null || !coversHost(wide, narrow) || !matchesHost(narrow, named, at)) return
        expect(matchesHost(wide, named, at)).toBe(true)
      }),
      { numRuns: 3_000, seed: 13 },
    )
    expect(coversHost(patternOf("*.example.com"), patternOf("*.a.example.com"))).toBe(true)
    expect(coversHost(patternOf("*.example.com"), patternOf("example.com"))).toBe(false)
    expect(coversHost(patternOf("example.com"), patternOf("*.example.com"))).toBe(false)
    expect(coversHost(patternOf("example.com"), patternOf("example.com:443"))).toBe(true)
    expect(coversHost(patternOf("example.com:443"), patternOf("example.com"))).toBe(false)
  })
})
