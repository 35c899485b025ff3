import { describe, expect, test } from "bun:test"
import { exitCodeOf } from "../../src/domain/failure.ts"
import {
  checkRecorded,
  type Destination,
  type DestinationSettings,
  destinationOf,
} from "../../src/models/destination.ts"
import { failureOf } from "../config/config-fixture.ts"

const local = "http://127.0.0.1:11434"
const elsewhere = "https://models.example.com"
const nothing: DestinationSettings = {
  mode: "local-only",
  namedProvider: null,
  variables: {},
  configured: { provider: "auto", endpoint: null },
}

const search = (protocol: string | null) => ({ kind: "search", protocol })
const at = (url: string, protocol: string | null) => ({
  kind: "endpoint",
  protocol,
  endpoint: { url, socket: null, isLocal: url.startsWith("http://127.") },
})

type Row = readonly [wish: Partial<DestinationSettings>, expected: object | string]

function check([wish, expected]: Row) {
  return async () => {
    const look = () => destinationOf({ ...nothing, ...wish })
    if (typeof expected === "object") expect(look()).toEqual(expected as Destination)
    else expect(await failureOf(look)).toMatchObject({ kind: "denied", code: expected })
  }
}

const auto = (endpoint: string | null) => ({ provider: "auto" as const, endpoint })
const named = (provider: "ollama" | "openai" | "anthropic", endpoint: string | null) => ({
  provider,
  endpoint,
})

const localOnly: readonly Row[] = [
  [{}, search(null)],
  [{ namedProvider: "openai" }, search("openai")],
  [{ configured: named("ollama", null) }, search("ollama")],
  [{ configured: auto(local) }, at(local, null)],
  [{ configured: named("openai", local) }, at(local, "openai")],
  [{ configured: named("anthropic", local) }, at(local, "anthropic")],
  [{ configured: auto(local), namedProvider: "openai" }, at(local, "openai")],
  // An endpoint belongs to the provider it is configured for.
  [{ configured: named("ollama", local), namedProvider: "openai" }, search("openai")],
  [{ variables: { OLLAMA_HOST: "0.0.0.0:77" } }, at("http://127.0.0.1:77", "ollama")],
  [{ variables: { OLLAMA_HOST: "0.0.0.0:77" }, configured: auto(local) }, at(local, null)],
  [{ variables: { OLLAMA_HOST: "0.0.0.0:77" }, namedProvider: "openai" }, search("openai")],
  [{ variables: { OLLAMA_HOST: "gpu-box" } }, "ACODE-MODEL-004"],
  [{ configured: auto(elsewhere) }, "ACODE-MODEL-004"],
  [{ configured: auto("https://api.anthropic.com") }, "ACODE-MODEL-004"],
  [{ namedProvider: "anthropic" }, "ACODE-MODEL-004"],
  [{ configured: named("anthropic", null) }, "ACODE-MODEL-004"],
]

const burst: readonly Row[] = [
  [{}, "ACODE-MODEL-005"],
  [{ configured: auto(elsewhere) }, "ACODE-MODEL-005"],
  [{ namedProvider: "anthropic" }, at("https://api.anthropic.com", "anthropic")],
  [{ configured: named("anthropic", null) }, at("https://api.anthropic.com", "anthropic")],
  [{ namedProvider: "openai" }, at("https://api.openai.com", "openai")],
  [{ configured: named("openai", elsewhere) }, at(elsewhere, "openai")],
  [{ configured: auto(elsewhere), namedProvider: "openai" }, at(elsewhere, "openai")],
  [
    { configured: named("ollama", local), namedProvider: "anthropic" },
    at("https://api.anthropic.com", "anthropic"),
  ],
  // Whoever types the company's name means it; whoever only configured a local server does not.
  [{ configured: auto(local), namedProvider: "openai" }, at("https://api.openai.com", "openai")],
  [{ configured: named("openai", local) }, "ACODE-MODEL-005"],
  [{ namedProvider: "ollama" }, "ACODE-MODEL-005"],
  [{ configured: named("ollama", elsewhere) }, at(elsewhere, "ollama")],
  [{ variables: { OLLAMA_HOST: "gpu-box" }, namedProvider: "ollama" }, at("http://gpu-box:11434", "ollama")],
]

const airgapped: readonly Row[] = [
  [{}, "ACODE-MODEL-004"],
  [{ variables: { OLLAMA_HOST: "127.0.0.1" } }, "ACODE-MODEL-004"],
  [{ namedProvider: "anthropic" }, "ACODE-MODEL-004"],
  [{ configured: auto(elsewhere) }, "ACODE-MODEL-004"],
  [{ configured: auto(local) }, at(local, null)],
  [{ configured: named("openai", local), variables: { OLLAMA_HOST: "gpu-box" } }, at(local, "openai")],
]

describe.each([
  ["local-only", localOnly],
  ["burst", burst],
  ["airgapped", airgapped],
] as const)("in the mode %s", (mode, rows) => {
  for (const [wish, expected] of rows)
    test(`${JSON.stringify(wish)} leads to ${JSON.stringify(expected)}`, check([{ ...wish, mode }, expected]))
})

describe("where a server is", () => {
  test("may be a socket", () => {
    const configured = auto("unix:/run/model.sock")
    expect(destinationOf({ ...nothing, mode: "airgapped", configured })).toMatchObject({
      endpoint: { socket: "/run/model.sock", isLocal: true },
    })
  })

  test("that cannot be read is a mistake of the configuration", async () => {
    for (const [wish, where] of [
      [{ configured: auto("http://user:secret@host") }, "model.endpoint"],
      [{ variables: { OLLAMA_HOST: "a b" } }, "OLLAMA_HOST"],
    ] as const) {
      const report = await failureOf(() => destinationOf({ ...nothing, ...wish }))
      expect(report).toMatchObject({ kind: "config", code: "ACODE-CFG-003", where })
      expect(report.message).not.toContain("secret")
    }
  })

  test("that is forbidden is reported with how to consent", async () => {
    const report = await failureOf(() => destinationOf({ ...nothing, namedProvider: "anthropic" }))
    expect(report.message).toContain("https://api.anthropic.com")
    expect(report.hint).toContain("--mode burst --model anthropic/NAME")
    expect(exitCodeOf(report.kind)).toBe(33)
  })
})

describe("the endpoint that a session has recorded", () => {
  test("is kept whatever is configured now, unless the session is airgapped", () => {
    for (const configured of [null, "http://127.0.0.1:9", elsewhere])
      for (const mode of ["local-only", "burst"] as const)
        expect(() => checkRecorded(mode, local, configured)).not.toThrow()
  })

  test("is kept by an airgapped session as long as it is the configured one, however that is written", () => {
    for (const configured of [local, `${local}/`]) checkRecorded("airgapped", local, configured)
    checkRecorded("airgapped", "unix:/run/model.sock", "unix:/run/model.sock")
  })

  test("is refused to an airgapped session once another one is configured, or none", async () => {
    for (const configured of ["http://127.0.0.1:9", "unix:/run/model.sock", null]) {
      const report = await failureOf(() => checkRecorded("airgapped", local, configured))
      expect(report).toMatchObject({ kind: "denied", code: "ACODE-MODEL-004", where: "mode" })
      expect(report.message).toContain(`started with ${local}, and now ${configured ?? "none"} is configured`)
      expect(report.hint).toContain("acode resume --model NAME")
    }
  })
})
