import { describe, expect, test } from "bun:test"
import fc from "fast-check"
import { ByteWindow } from "../../src/exec/capture.ts"

function windowOf(capacity: number, ...texts: string[]): ByteWindow {
  const window = new ByteWindow(capacity)
  for (const text of texts) window.push(Buffer.from(text))
  return window
}

const taken = (window: ByteWindow) => Buffer.from(window.take()).toString()

describe("a window on the newest bytes", () => {
  test("has everything while there is room", () => {
    const window = windowOf(10, "abc", "", "def")
    expect(window.bytes).toBe(6)
    expect(taken(window)).toBe("abcdef")
  })

  test("lets the oldest go when there is none, and gives the rest in order", () => {
    expect(taken(windowOf(5, "abc", "def"))).toBe("bcdef")
    expect(taken(windowOf(5, "abc", "def", "ghi", "j"))).toBe("fghij")
    expect(windowOf(5, "abc", "def").bytes).toBe(5)
  })

  test("may be exactly full", () => {
    expect(taken(windowOf(6, "abc", "def"))).toBe("abcdef")
    expect(taken(windowOf(6, "abc", "def", "ghijkl"))).toBe("ghijkl")
  })

  test("takes of a chunk larger than itself the end", () => {
    expect(taken(windowOf(4, "ab", "0123456789"))).toBe("6789")
    expect(taken(windowOf(4, "0123456789", "ab"))).toBe("89ab")
  })

  test("keeps a copy: whoever owns the chunk may use it again", () => {
    const window = new ByteWindow(100)
    const chunk = Buffer.from("one")
    window.push(chunk)
    chunk.write("two")
    window.push(chunk)
    expect(taken(window)).toBe("onetwo")
  })

  test("is empty when it has given its bytes away, and can be used again", () => {
    const window = windowOf(4, "abcdef")
    window.take()
    expect(window.bytes).toBe(0)
    window.push(Buffer.from("xy"))
    expect(taken(window)).toBe("xy")
  })

  test("that nothing was pushed to is empty", () => {
    expect(new ByteWindow(8).take()).toHaveLength(0)
  })

  test("works beyond the size of its first buffer", () => {
    const window = new ByteWindow(300_000)
    const all = Buffer.from(Array.from({ length: 500_000 }, (_, index) => (index * 7) & 0xff))
    for (let at = 0; at < all.length; at += 60_000) window.push(all.subarray(at, at + 60_000))
    expect(Buffer.from(window.take()).equals(all.subarray(-300_000))).toBe(true)
  })
})

test("whatever is pushed, the newest bytes are there in order", () => {
  const chunks = fc.array(fc.uint8Array({ maxLength: 40 }), { maxLength: 30 })
  fc.assert(
    fc.property(chunks, fc.integer({ min: 1, max: 100 }), (all, capacity) => {
      const window = new ByteWindow(capacity)
      for (const chunk of all) window.push(chunk)
      const whole = Buffer.concat(all)
      const expected = whole.subarray(Math.max(0, whole.length - capacity))
      expect(window.bytes).toBe(expected.length)
      expect(Buffer.from(window.take()).equals(expected)).toBe(true)
    }),
    { numRuns: 500 },
  )
})
