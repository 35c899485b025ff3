import { expect, test } from "bun:test"
import fc from "fast-check"
import { pathBytes, pathFromBytes, systemPath } from "../../src/base/path-bytes.ts"

test("a name in UTF-8 is itself", () => {
  expect(pathFromBytes(Buffer.from("grün/日本"))).toBe("grün/日本")
  expect(systemPath("grün")).toBe("grün")
})

test("a byte that is no UTF-8 becomes a lone surrogate and comes back", () => {
  const bytes = Buffer.from("bad\xff\xc3name", "latin1")
  expect(pathFromBytes(bytes)).toBe("bad\udcff\udcc3name")
  expect(pathBytes("bad\udcff\udcc3name")).toEqual(bytes)
  expect(systemPath("bad\udcff")).toEqual(Buffer.from("bad\xff", "latin1"))
})

test("a name with the replacement character is not taken for a broken one", () => {
  expect(pathFromBytes(Buffer.from("\ufffd"))).toBe("\ufffd")
})

test("every sequence of bytes survives the way there and back", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 40 }), bytes => {
      expect([...pathBytes(pathFromBytes(bytes))]).toEqual([...bytes])
    }),
    { numRuns: 2000 },
  )
})

test("every text and its JSON survive too", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 20 }), bytes => {
      const path = pathFromBytes(bytes)
      expect(JSON.parse(JSON.stringify(path))).toBe(path)
    }),
  )
})
