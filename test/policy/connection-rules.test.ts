import { describe, expect, test } from "bun:test"
import { readHost, readHostPattern } from "../../src/domain/hosts.ts"
import { connectionRules } from "../../src/policy/connection-rules.ts"

function rulesFor(entries: readonly string[], refused: readonly string[] = [], own: readonly string[] = []) {
  const patterns = entries.map(entry => {
    const reading = readHostPattern(entry)
    if ("problem" in reading) throw new Error(reading.problem)
    return reading.pattern
  })
  const hostRefusal = (host: string) => (refused.includes(host) ? "it is refused by a rule" : null)
  return connectionRules({ patterns, hostRefusal, ownAddresses: () => own })
}

/** Whether a connection is made, for a name that stands for these addresses. */
function allowed(
  rules: ReturnType<typeof rulesFor>,
  name: string,
  port: number,
  addresses: readonly string[],
) {
  const host = readHost(name)
  if (host === null || rules.refusalOf(host, port) !== null) return false
  return addresses.every(address => rules.refusalOfAddress(address, host, port) === null)
}

describe("a connection of a command", () => {
  const rules = rulesFor(["example.com", "*.example.org:8443", "localhost:8080", "10.0.0.5:5432"])
  const outside = "93.184.216.34"

  test("goes to a listed name that leads outside", () => {
    expect(allowed(rules, "example.com", 443, [outside, "2606:4700::1111"])).toBe(true)
    expect(allowed(rules, "a.example.org", 8443, [outside])).toBe(true)
    expect(allowed(rules, "example.com", 22, [outside])).toBe(false)
    expect(allowed(rules, "a.example.org", 443, [outside])).toBe(false)
    expect(allowed(rules, "example.org", 8443, [outside])).toBe(false)
    expect(allowed(rules, "example.net", 443, [outside])).toBe(false)
    expect(allowed(rules, outside, 443, [outside])).toBe(false)
  })

  test("does not follow a listed name to this machine, its neighbours or a metadata service", () => {
    const places = [
      ...[
        "127.0.0.1",
        "127.8.8.8",
        "::1",
        "::ffff:127.0.0.1",
        "10.0.0.1",
        "172.16.0.1",
        "192.168.1.1",
        "fd00::1",
      ],
      ...["169.254.169.254", "fe80::1", "fd00:ec2::254", "100.100.100.200", "0.0.0.0", "::", "224.0.0.1"],
      ...["64:ff9b::a00:1", "2002:7f00:1::", "not an address", "fe80::1%eth0", ""],
    ]
    for (const place of places) {
      expect(`${place} ${allowed(rules, "example.com", 443, [place])}`).toBe(`${place} false`)
      expect(allowed(rules, "example.com", 443, [outside, place])).toBe(false)
      expect(allowed(rules, "example.com", 443, [place, outside])).toBe(false)
    }
  })

  test("reaches an inner address that the list names itself, and at that port only", () => {
    const named = rulesFor(["db.example.com:5432", "10.0.0.5:5432"])
    expect(allowed(named, "10.0.0.5", 5432, ["10.0.0.5"])).toBe(true)
    expect(allowed(named, "db.example.com", 5432, ["10.0.0.5"])).toBe(true)
    expect(allowed(named, "db.example.com", 5432, ["::ffff:10.0.0.5"])).toBe(true)
    expect(allowed(named, "db.example.com", 5432, ["10.0.0.6"])).toBe(false)
    expect(allowed(named, "10.0.0.5", 443, ["10.0.0.5"])).toBe(false)
    expect(allowed(rulesFor(["example.com", "10.0.0.5:5432"]), "example.com", 443, ["10.0.0.5"])).toBe(false)
  })

  test("reaches named ports of this machine by its own names", () => {
    expect(allowed(rules, "localhost", 8080, ["127.0.0.1", "::1"])).toBe(true)
    expect(allowed(rules, "localhost", 8081, ["127.0.0.1"])).toBe(false)
    expect(allowed(rules, "127.0.0.1", 8080, ["127.0.0.1"])).toBe(false)
    expect(rules.localPorts).toEqual([8080])
    expect(rulesFor(["localhost:2000", "127.0.0.1:2000", "[::1]:3000", "10.0.0.1:4000"]).localPorts).toEqual([
      2000, 3000,
    ])
  })

  test("never reaches a metadata service, by wildcard or by the address of another name", () => {
    const wide = rulesFor(["*.google.internal", "*.example.com"])
    expect(allowed(wide, "metadata.google.internal", 80, [outside])).toBe(false)
    expect(allowed(wide, "other.google.internal", 80, ["169.254.169.254"])).toBe(false)
  })

  test("does not reach this machine by its address outside", () => {
    const home = rulesFor(["example.com", "home.example.com", outside], [], [outside])
    expect(allowed(home, "example.com", 443, [outside])).toBe(true)
    expect(allowed(rulesFor(["example.com"], [], [outside]), "example.com", 443, [outside])).toBe(false)
    expect(allowed(rulesFor(["example.com"], [], [outside]), "example.com", 443, ["93.184.216.35"])).toBe(
      true,
    )
  })

  test("does not reach what configuration refuses, whatever is listed", () => {
    const refusing = rulesFor(["*.example.com"], ["evil.example.com:443"])
    expect(allowed(refusing, "evil.example.com", 443, [outside])).toBe(false)
    expect(allowed(refusing, "good.example.com", 443, [outside])).toBe(true)
  })
})
