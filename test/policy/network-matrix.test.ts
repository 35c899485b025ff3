import { describe, expect, test } from "bun:test"
import type { Effect, Grant } from "../../src/domain/effect.ts"
import { shippedDefaults } from "../support/plan/shipped-decisions.ts"
import { decideOn, execute, rulesOf } from "./policy-kit.ts"

/** What of the network a command asks for, and who has granted what. */
const asks = {
  nothing: [] as readonly string[],
  everything: null,
  host: ["registry.example.com"] as readonly string[],
  others: ["registry.example.com", "*.example.org"] as readonly string[],
} as const
const grants: Readonly<Record<string, Partial<Grant>>> = {
  none: {},
  host: { hosts: ["registry.example.com"] },
  wildcard: { hosts: ["*.example.com"] },
  asWritten: {},
  asWrittenUnconfined: { isUnconfined: true },
}
const scopes = [
  ...["", "default", "terminal", "terminal:all", "file_write,plan", "all", "network", "terminal:all,network"],
  ...[
    "network:registry.example.com",
    "network:*.example.com",
    "network:registry.example.com:443",
    "all,network",
  ],
]
const policies = ["auto", "prompt", "deny", "skip"] as const
const rules = {
  none: [],
  refusesHost: [
    { name: "no", operation: "external_request", pattern: "registry.example.com", policy: "deny" },
  ],
  refusesOther: [{ name: "no", operation: "external_request", pattern: "evil.test", policy: "deny" }],
  allowsHost: [{ name: "yes", operation: "external_request", pattern: "*.example.com", policy: "auto" }],
}
/** One is ordinary in a sandbox; the other is of no use without the network, which is asked about. */
const programs = { ordinary: ["npm", "test"], online: ["curl", "x"] } as const

interface Row {
  readonly ask: keyof typeof asks
  readonly grant: string
  readonly yes: string
  readonly policy: (typeof policies)[number]
  readonly rule: keyof typeof rules
  readonly program: keyof typeof programs
  readonly confined: boolean
}

/**
 * Says again, without looking at policy, what a person may expect: the network is a permission of its own, and what
 * configuration refuses is refused.
 */
function expected({ ask, grant, yes, policy, rule, program, confined }: Row): "allow" | "ask" | "deny" {
  const isRefused = policy === "deny" || policy === "skip"
  const asWritten = grant.startsWith("asWritten")
  // Who approved a step inside a sandbox has not approved it outside.
  const asWrittenHere = asWritten && (confined || grant === "asWrittenUnconfined")
  const named = yes.split(",")
  const isOnline = program === "online"
  if (ask === "host" || ask === "others") {
    if (!confined || isRefused || rule === "refusesHost") return "deny"
  }
  if (ask === "everything" && (isRefused || rule === "refusesHost" || rule === "refusesOther")) return "deny"
  if (isOnline && isRefused) return "deny"

  const opensAll = named.includes("network")
  const opensHost =
    opensAll || named.some(name => name.startsWith("network:r") || name.startsWith("network:*"))
  // Only of the ports that are asked for.
  const opensWhole = opensHost && !named.includes("network:registry.example.com:443")
  let open = true
  if (ask === "everything") open = asWritten || opensAll
  if (ask === "host" || ask === "others") {
    const hasHost =
      asWritten || grant === "host" || grant === "wildcard" || rule === "allowsHost" || opensWhole
    open = hasHost && (ask === "host" || asWritten || opensAll)
  }
  const isAll = named.includes("all") || named.includes("terminal:all")
  let runs = true
  if (isOnline) runs = asWrittenHere || (isAll && (confined || opensAll))
  else if (!confined) runs = asWrittenHere || isAll || named.includes("terminal")
  return open && runs ? "allow" : "ask"
}

function decided({ ask, grant, yes, policy, rule, program, confined }: Row): string {
  const hosts = asks[ask]
  const network = hosts === null ? "host" : hosts.length === 0 ? "none" : "hosts"
  const effects: Effect[] = [
    execute(programs[program], { network, confined }),
    ...(hosts ?? []).map(host => ({ kind: "connect", host }) as const),
  ]
  return decideOn(effects, {
    grant: { ...grants[grant], ...(grant.startsWith("asWritten") ? { exact: effects } : {}) },
    rules: rulesOf(...rules[rule]),
    ...(yes === "" ? {} : { yes }),
    options: { defaults: { ...shippedDefaults, EXTERNAL_REQUEST: policy } },
  }).decision
}

function* rows(): Generator<Row> {
  for (const ask of Object.keys(asks) as (keyof typeof asks)[]) // as: the keys of a literal
    for (const rule of Object.keys(rules) as (keyof typeof rules)[]) // as: the keys of a literal
      for (const program of Object.keys(programs) as (keyof typeof programs)[]) // as: the keys of a literal
        for (const grant of Object.keys(grants))
          for (const yes of scopes)
            for (const policy of policies)
              for (const confined of [true, false]) yield { ask, grant, yes, policy, rule, program, confined }
}

describe("the network of a command", () => {
  test("is decided as the table says, for every scope, grant, default, rule and lane", () => {
    const wrong: string[] = []
    let count = 0
    for (const row of rows()) {
      count += 1
      const [got, want] = [decided(row), expected(row)]
      if (got !== want) wrong.push(`${JSON.stringify(row)}: ${got}, expected ${want}`)
    }
    expect(wrong.slice(0, 10)).toEqual([])
    expect(count).toBe(4 * 4 * 2 * 5 * 12 * 4 * 2)
  })

  test("is never opened by a scope that does not name it", () => {
    for (const row of rows()) {
      const isOpened = row.ask !== "nothing" && row.grant === "none" && row.rule !== "allowsHost"
      if (!isOpened || row.yes.includes("network")) continue
      expect(`${JSON.stringify(row)} ${decided(row) === "allow"}`).toBe(`${JSON.stringify(row)} false`)
    }
  })

  test("is refused by configuration, whatever a plan, a scope or a step as written says", () => {
    for (const row of rows()) {
      if (row.policy !== "deny" || row.ask === "nothing") continue
      expect(decided(row)).toBe("deny")
    }
  })

  test("is never opened to what nobody may open", () => {
    for (const host of [
      "169.254.169.254",
      "metadata.google.internal",
      "[fd00:ec2::254]:80",
      "*",
      "localhost",
    ]) {
      const effect = { kind: "connect", host } as const
      const given = { grant: { exact: [effect], hosts: [host] }, yes: "all,network" }
      expect(decideOn([effect], given)).toMatchObject({ decision: "deny", level: 4, rule: "never.host" })
    }
  })
})
