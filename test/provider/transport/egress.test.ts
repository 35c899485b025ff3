import { describe, expect, test } from "bun:test"
import { type Mode, modes } from "../../../src/domain/model-choice.ts"
import type { Egress, Endpoint } from "../../../src/provider/transport/contract.ts"
import { refusal } from "../../../src/provider/transport/egress.ts"
import { endpointOf } from "./transport-kit.ts"

const local = "http://127.0.0.1:11434"
const otherLocal = "http://127.0.0.1:11435"
const socket = "unix:/run/model.sock"
const remote = "https://api.example.com"
const otherRemote = "https://api.example.org"

const isAllowed = (egress: Egress, endpoint: Endpoint) => refusal(egress, endpoint) === null

/** Which of the endpoints may be talked to. */
const matrix: readonly (readonly [Mode, string | null, string | null, readonly string[]])[] = [
  ["local-only", null, null, [local, otherLocal, socket]],
  ["local-only", local, null, [local, otherLocal, socket]],
  ["local-only", remote, remote, [local, otherLocal, socket]],
  ["burst", null, null, [local, otherLocal, socket]],
  ["burst", remote, null, [local, otherLocal, socket]],
  ["burst", null, remote, [local, otherLocal, socket, remote]],
  ["burst", remote, otherRemote, [local, otherLocal, socket, otherRemote]],
  ["airgapped", null, null, []],
  ["airgapped", local, null, [local]],
  ["airgapped", socket, null, [socket]],
  ["airgapped", remote, remote, []],
  ["airgapped", null, local, []],
  ["airgapped", local, otherLocal, [local]],
]

describe("what a mode allows", () => {
  test.each(matrix)("%s with %p configured and consent to %p", (mode, configured, consented, allowed) => {
    const egress = { mode, configured, consented }
    const all = [local, otherLocal, socket, remote, otherRemote]
    expect(all.filter(name => isAllowed(egress, endpointOf(name)))).toEqual([...allowed])
  })

  test("a refusal says which endpoint and why, and is not tried again", () => {
    const failure = refusal({ mode: "local-only", configured: null, consented: null }, endpointOf(remote))
    expect(failure).toEqual({
      kind: "refused",
      message: `${remote} cannot be used: the mode is local-only, and it is not on this machine`,
      retryable: false,
      retryAfterMs: null,
    })
    const inBurst = refusal({ mode: "burst", configured: remote, consented: null }, endpointOf(remote))
    expect(inBurst?.message).toContain("this session has no consent for it")
    const other = refusal({ mode: "airgapped", configured: local, consented: null }, endpointOf(otherLocal))
    expect(other?.message).toContain("another endpoint is configured")
  })
})

describe("consent and configuration name exactly one endpoint", () => {
  test.each([
    ["another path", "https://api.example.com/v2"],
    ["another port", "https://api.example.com:8443"],
    ["plain http", "http://api.example.com"],
    ["a longer host", "https://api.example.com.evil.org"],
    ["a host before it", "https://evil.api.example.com"],
  ])("not %s", (_what, name) => {
    expect(isAllowed({ mode: "burst", configured: null, consented: remote }, endpointOf(name))).toBeFalse()
  })

  test("however it is written", () => {
    const consented = "HTTPS://API.example.com:443/"
    expect(isAllowed({ mode: "burst", configured: null, consented }, endpointOf(remote))).toBeTrue()
    const configured = "http://127.0.0.1:11434/"
    expect(isAllowed({ mode: "airgapped", configured, consented: null }, endpointOf(local))).toBeTrue()
  })

  test("an airgapped session with localhost configured may not use its address, nor the other way round", () => {
    const named = endpointOf("http://localhost:11434")
    expect(isAllowed({ mode: "airgapped", configured: local, consented: null }, named)).toBeFalse()
    expect(isAllowed({ mode: "airgapped", configured: named.url, consented: null }, named)).toBeTrue()
  })

  test.each(["", "*", "https://", "https://*.example.com", "https://api.example.com@evil.org"])(
    "%p is consent to nothing",
    consented => {
      expect(isAllowed({ mode: "burst", configured: null, consented }, endpointOf(remote))).toBeFalse()
    },
  )
})

describe("an endpoint that lies about itself", () => {
  const lies: readonly Endpoint[] = [
    { url: remote, socket: null, isLocal: true },
    { url: "http://0.0.0.0", socket: null, isLocal: true },
    { url: "http://127.0.0.1@evil.com", socket: null, isLocal: true },
    { url: "http://2130706433", socket: null, isLocal: true },
    { url: "http://localhost.", socket: null, isLocal: true },
    { url: "http://127.0.0.1/?x", socket: null, isLocal: true },
    { url: remote, socket: "/run/model.sock", isLocal: true },
    { url: "http://localhost", socket: "model.sock", isLocal: true },
    { url: "http://localhost", socket: "", isLocal: true },
    { url: local, socket: null, isLocal: false },
  ]

  test.each(lies)("%p is refused in every mode", lie => {
    for (const mode of modes) {
      const named = lie.socket === null ? lie.url : `unix:${lie.socket}`
      const failure = refusal({ mode, configured: named, consented: named }, lie)
      expect(failure?.message).toContain("not the endpoint it claims to be")
    }
  })

  test("an unknown mode allows nothing", () => {
    for (const word of ["", "LOCAL-ONLY", "open", null, undefined]) {
      const egress = { mode: word as Mode, configured: local, consented: remote } // as: what a file might hold
      for (const name of [local, socket, remote])
        expect(refusal(egress, endpointOf(name))?.message).toContain("is unknown")
    }
  })
})
