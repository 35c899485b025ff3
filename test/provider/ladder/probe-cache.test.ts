import { describe, expect, test } from "bun:test"
import fc from "fast-check"
import { rungs } from "../../../src/domain/model-choice.ts"
import type { ModelProbe } from "../../../src/provider/ladder/contract.ts"
import { decodeProbe, encodeProbe, probeKey } from "../../../src/provider/ladder/probe.ts"

const probe: ModelProbe = { rung: "native", notes: ["native: works"] }

describe("the key of a probe", () => {
  test("differs with everything that can change what a model does", () => {
    const facts = { digest: "d", declaresTools: true }
    const keys = [
      probeKey("http://127.0.0.1:1", "m", facts, "1"),
      probeKey("http://127.0.0.1:2", "m", facts, "1"),
      probeKey("http://127.0.0.1:1", "n", facts, "1"),
      probeKey("http://127.0.0.1:1", "m", { ...facts, digest: "e" }, "1"),
      probeKey("http://127.0.0.1:1", "m", { ...facts, digest: null }, "1"),
      probeKey("http://127.0.0.1:1", "m", { ...facts, declaresTools: false }, "1"),
      probeKey("http://127.0.0.1:1", "m", { ...facts, declaresTools: null }, "1"),
      probeKey("http://127.0.0.1:1", "m", facts, "2"),
      probeKey("http://127.0.0.1:1", "md", { ...facts, digest: "" }, "1"),
    ]
    expect(new Set(keys).size).toBe(keys.length)
  })

  test("is the same for the same, and fit for a file name", () => {
    const facts = { digest: null, declaresTools: null }
    const key = probeKey("unix:/run/a.sock", "org/m:7b", facts, "1")
    expect(key).toBe(probeKey("unix:/run/a.sock", "org/m:7b", facts, "1"))
    expect(key).toMatch(/^[0-9a-f]{64}$/)
  })
})

describe("a probe that was kept", () => {
  test("is read as it was written", () => {
    const any = fc.record({
      rung: fc.constantFrom(...rungs),
      notes: fc.array(fc.string(), { maxLength: 10 }),
    })
    fc.assert(
      fc.property(fc.string(), any, (key, kept) =>
        expect(decodeProbe(key, encodeProbe(key, kept))).toEqual(kept),
      ),
    )
  })

  test("of another key is none", () => {
    expect(decodeProbe("b", encodeProbe("a", probe))).toBeNull()
  })

  test("is none once any of it is cut off", () => {
    const text = encodeProbe("a", probe)
    for (let length = 0; length < text.trimEnd().length; length++)
      expect(decodeProbe("a", text.slice(0, length))).toBeNull()
  })

  test.each([
    "null",
    "[]",
    "{}",
    // As an older acode wrote it.
    '{"key":"a","probe":{"editFormat":"whole","notes":[],"rung":"native","windowTokens":1},"schema":1}\n',
    '{"key":"a","probe":{"notes":[],"rung":"native"},"schema":1}\n',
    '{"key":"a","probe":{"notes":[],"rung":"native"},"schema":3}\n',
    '{"key":"a","probe":{"notes":[],"rung":"best"},"schema":2}\n',
    '{"key":"a","probe":{"notes":"x","rung":"native"},"schema":2}\n',
    '{"key":"a","more":1,"probe":{"notes":[],"rung":"native"},"schema":2}\n',
  ])("is none when it is %s", text => {
    expect(decodeProbe("a", text)).toBeNull()
  })
})
