import { describe, expect, test } from "bun:test"
import fc from "fast-check"
import { canonicalJson, equalsConstantTime, hmacHex, sha256Hex } from "../../src/base/canonical.ts"

/** Members from few names, so that equal and nearly equal objects are common. */
const json = fc.letrec(tie => ({
  value: fc.oneof(
    { depthSize: "small" },
    fc.constantFrom(null, true, false, 0, -1, 1.5, 1e21, "", "a", "b", '"', "\\", "\u0000", "é", "\u2028"),
    fc.string({ unit: "binary", maxLength: 4 }),
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    fc.array(tie("value"), { maxLength: 3 }),
    fc.dictionary(
      fc.constantFrom("a", "b", "ab", "", "1", "10", "é", "a:b", '"', ",", "a,b", "b,a"),
      tie("value"),
      {
        maxKeys: 3,
      },
    ),
  ),
})).value

describe("canonical JSON", () => {
  test("sorts keys by code unit at every depth and writes no spaces", () => {
    expect(canonicalJson({ b: [{ z: 1, a: 2 }], a: null, B: "x" })).toBe(
      '{"B":"x","a":null,"b":[{"a":2,"z":1}]}',
    )
    expect(canonicalJson({ 10: 1, 9: 2, "\u{1f600}": 3, "\uffff": 4 })).toBe(
      '{"10":1,"9":2,"\u{1f600}":3,"\uffff":4}',
    )
  })

  test("takes no list of names for another that reads the same with commas", () => {
    for (const _ of [1, 2]) {
      expect(canonicalJson({ c: 1, b: 2, a: 3 })).toBe('{"a":3,"b":2,"c":1}')
      expect(canonicalJson({ "c,b": 1, a: 2 })).toBe('{"a":2,"c,b":1}')
      expect(canonicalJson({ c: 1, "b,a": 2 })).toBe('{"b,a":2,"c":1}')
    }
  })

  test("leaves members out that are undefined, as JSON does", () => {
    expect(canonicalJson({ a: undefined, b: 1 })).toBe('{"b":1}')
  })

  test("refuses what JSON would silently turn into something else", () => {
    for (const value of [Number.NaN, Number.POSITIVE_INFINITY, 1n, undefined, () => 1, Symbol("s")])
      expect(() => canonicalJson(value)).toThrow("not representable in JSON")
    expect(() => canonicalJson([undefined])).toThrow("not representable in JSON")
    expect(() => canonicalJson({ a: { b: [Number.NaN] } })).toThrow("not representable in JSON")
  })

  test("is JSON that reads back as the same value", () => {
    fc.assert(
      fc.property(json, value => {
        // Minus zero is the one number JSON has no spelling for; it equals zero everywhere else too.
        expect(JSON.parse(canonicalJson(value))).toEqual(JSON.parse(JSON.stringify(value)))
      }),
    )
  })

  test("gives one spelling per value whatever the order of its keys", () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), json), members => {
        const reversed = Object.fromEntries(Object.entries(members).reverse())
        expect(canonicalJson(reversed)).toBe(canonicalJson(members))
      }),
    )
  })

  test("is injective: two values share a spelling exactly when they are equal", () => {
    fc.assert(
      fc.property(json, json, (one, other) => {
        const areEqual = Bun.deepEquals(
          JSON.parse(JSON.stringify(one)),
          JSON.parse(JSON.stringify(other)),
          true,
        )
        expect(canonicalJson(one) === canonicalJson(other)).toBe(areEqual)
      }),
      { numRuns: 2000 },
    )
  })
})

describe("hashes", () => {
  test("SHA-256 is the known one, of text and of bytes alike", () => {
    const ofAbc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    expect(sha256Hex("abc")).toBe(ofAbc)
    expect(sha256Hex(Buffer.from("abc"))).toBe(ofAbc)
    expect(sha256Hex("é")).toBe(sha256Hex(new Uint8Array([0xc3, 0xa9])))
  })

  const key = new Uint8Array(32).fill(7)

  test("a keyed hash depends on the key", () => {
    expect(hmacHex(key, ["a"])).not.toBe(hmacHex(new Uint8Array(32).fill(8), ["a"]))
    expect(hmacHex(key, ["a"])).toMatch(/^[0-9a-f]{64}$/)
  })

  test("a keyed hash knows where one field ends and the next begins", () => {
    expect(hmacHex(key, ["ab", "c"])).not.toBe(hmacHex(key, ["a", "bc"]))
    expect(hmacHex(key, ["ab", ""])).not.toBe(hmacHex(key, ["ab"]))
    expect(hmacHex(key, ["1:a"])).not.toBe(hmacHex(key, ["", "a"]))
  })

  test("a keyed hash counts fields in bytes, whatever they hold", () => {
    const hashed = (text: string) => new Bun.CryptoHasher("sha256", key).update(text).digest("hex")
    expect(hmacHex(key, ["ab", "c"])).toBe(hashed("2:ab1:c"))
    expect(hmacHex(key, ["é", "a", "\u{1f600}"])).toBe(hashed("2:é1:a4:\u{1f600}"))
  })

  test("a keyed hash is injective over the boundaries of fields", () => {
    const fields = fc.array(fc.constantFrom("", "a", "b", "1", ":", "1:a", "é"), { maxLength: 4 })
    fc.assert(
      fc.property(fields, fields, (one, other) => {
        expect(hmacHex(key, one) === hmacHex(key, other)).toBe(Bun.deepEquals(one, other))
      }),
      { numRuns: 500 },
    )
  })

  test("secrets are equal exactly when they are the same text", () => {
    expect(equalsConstantTime("abc", "abc")).toBe(true)
    expect(equalsConstantTime("", "")).toBe(true)
    for (const other of ["abd", "xbc", "ab", "abcd", ""]) expect(equalsConstantTime("abc", other)).toBe(false)
  })
})
