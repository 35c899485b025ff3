import { describe, expect, test } from "bun:test"
import {
  anchorMac,
  type ChainedFields,
  eventHash,
  firstHead,
  keyIdOf,
  nextHead,
  noPrevious,
} from "../../../src/store/log/chain.ts"

const key = new Uint8Array(32).fill(1)
const otherKey = new Uint8Array(32).fill(2)

const event: ChainedFields = {
  stream: "exe_a",
  seq: 1,
  position: 7,
  epoch: 2,
  at: "2026-01-02T03:04:05.678Z",
  type: "command.started",
  version: 1,
  data: "{}",
  prevHash: noPrevious,
}

describe("the hash of an event", () => {
  test("is the same for the same event and key", () => {
    expect(eventHash(key, { ...event })).toBe(eventHash(key, event))
    expect(eventHash(key, event)).toMatch(/^[0-9a-f]{64}$/)
  })

  test("cannot be made without the key", () => {
    expect(eventHash(otherKey, event)).not.toBe(eventHash(key, event))
  })

  const changes: Partial<ChainedFields>[] = [
    { stream: "exe_b" },
    { seq: 2 },
    { position: 8 },
    { epoch: 3 },
    { at: "2026-01-02T03:04:05.679Z" },
    { type: "command.finished" },
    { version: 2 },
    { data: "[]" },
    { prevHash: "0" },
  ]

  test("covers every field", () => {
    expect(changes.map(change => Object.keys(change)[0]).sort()).toEqual(Object.keys(event).sort())
    const hashes = changes.map(change => eventHash(key, { ...event, ...change }))
    expect(new Set([...hashes, eventHash(key, event)]).size).toBe(changes.length + 1)
  })

  test("reports apart what a plain join would confuse", () => {
    const moved = { ...event, type: "command.started1", version: 1 }
    const split = { ...event, type: "command.started", version: 11 }
    expect(eventHash(key, moved)).not.toBe(eventHash(key, split))
    const inData = { ...event, data: "{}a", prevHash: "" }
    const inPrevious = { ...event, data: "{}", prevHash: "a" }
    expect(eventHash(key, inData)).not.toBe(eventHash(key, inPrevious))
  })
})

describe("the head of the log", () => {
  test("begins with the workspace it belongs to", () => {
    expect(firstHead(key, "wsp_a")).not.toBe(firstHead(key, "wsp_b"))
    expect(firstHead(key, "wsp_a")).not.toBe(firstHead(otherKey, "wsp_a"))
  })

  test("depends on every event before it and on their order", () => {
    const first = firstHead(key, "wsp_a")
    const ab = nextHead(key, nextHead(key, first, 1, "a"), 2, "b")
    const ba = nextHead(key, nextHead(key, first, 1, "b"), 2, "a")
    expect(ab).not.toBe(ba)
    expect(nextHead(key, first, 1, "a")).not.toBe(nextHead(key, first, 2, "a"))
  })

  test("cannot be continued without the key", () => {
    const first = firstHead(key, "wsp_a")
    expect(nextHead(otherKey, first, 1, "a")).not.toBe(nextHead(key, first, 1, "a"))
  })
})

describe("anchors and key names", () => {
  const anchor = { position: 3, head: "ab", at: "2026-01-02T03:04:05.678Z", root: "/w" }

  test("an anchor's signature covers all it says and whose it is", () => {
    const macs = [
      anchorMac(key, "wsp_a", anchor),
      anchorMac(key, "wsp_b", anchor),
      anchorMac(otherKey, "wsp_a", anchor),
      anchorMac(key, "wsp_a", { ...anchor, position: 4 }),
      anchorMac(key, "wsp_a", { ...anchor, head: "ac" }),
      anchorMac(key, "wsp_a", { ...anchor, at: "2026-01-02T03:04:05.679Z" }),
      anchorMac(key, "wsp_a", { ...anchor, root: "/v" }),
    ]
    expect(new Set(macs).size).toBe(macs.length)
  })

  test("a key is named by something that differs for every key and workspace", () => {
    const names = [keyIdOf(key, "wsp_a"), keyIdOf(otherKey, "wsp_a"), keyIdOf(key, "wsp_b")]
    expect(new Set(names).size).toBe(3)
  })

  test("no value made for one purpose passes for another", () => {
    expect(firstHead(key, "wsp_a").slice(0, 32)).not.toBe(keyIdOf(key, "wsp_a"))
  })
})
