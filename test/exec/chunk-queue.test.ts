import { describe, expect, test } from "bun:test"
import fc from "fast-check"
import { ChunkQueue } from "../../src/exec/chunk-queue.ts"

const bytes = (length: number, fill = 1) => new Uint8Array(length).fill(fill)
const joined = (queue: ChunkQueue) => Buffer.concat(queue.take())

describe("a queue of bytes", () => {
  test("gives back what was put in, in order", () => {
    const queue = new ChunkQueue()
    for (const text of ["a", "bc", "", "def"]) queue.push(Buffer.from(text))
    expect(queue.bytes).toBe(6)
    expect(joined(queue).toString()).toBe("abcdef")
  })

  test("keeps large chunks as they are, without a copy", () => {
    const queue = new ChunkQueue()
    const large = bytes(64 * 1024)
    queue.push(large)
    expect(queue.take()[0]).toBe(large)
  })

  test("copies small chunks together, so that their owner may use its buffer again", () => {
    const queue = new ChunkQueue()
    const buffer = Buffer.from("one")
    queue.push(buffer)
    buffer.write("two")
    queue.push(buffer)
    expect(joined(queue).toString()).toBe("onetwo")
  })

  test("keeps very many tiny chunks in few pieces", () => {
    const queue = new ChunkQueue()
    for (let count = 0; count < 200_000; count++) queue.push(new Uint8Array([count & 0xff]))
    expect(queue.bytes).toBe(200_000)
    const pieces = queue.take()
    expect(pieces.length).toBeLessThan(5)
    expect(Buffer.concat(pieces).subarray(300, 303)).toEqual(
      Buffer.from([300 & 0xff, 301 & 0xff, 302 & 0xff]),
    )
  })

  test("is empty when it has given everything away, and can be used again", () => {
    const queue = new ChunkQueue()
    queue.push(bytes(10))
    queue.take()
    expect(queue.bytes).toBe(0)
    queue.push(Buffer.from("again"))
    expect(joined(queue).toString()).toBe("again")
  })
})

describe("dropping the oldest", () => {
  test("keeps at least what was asked for, and not a whole chunk more", () => {
    const queue = new ChunkQueue()
    for (let fill = 0; fill < 10; fill++) queue.push(bytes(5000, fill))
    queue.dropOldest(12_000)
    expect(queue.bytes).toBe(15_000)
    expect(joined(queue)[0]).toBe(7)
  })

  test("drops nothing while there is less than that", () => {
    const queue = new ChunkQueue()
    queue.push(bytes(5000))
    queue.dropOldest(5001)
    queue.dropOldest(5000)
    expect(queue.bytes).toBe(5000)
  })

  test("forgets the memory too, however long it goes on", () => {
    const queue = new ChunkQueue()
    for (let count = 0; count < 5000; count++) {
      queue.push(bytes(8192, count & 0xff))
      queue.dropOldest(65_536)
    }
    expect(queue.take()).toHaveLength(8)
  })
})

test("whatever is pushed and dropped, the newest bytes are there", () => {
  const sizes = fc.array(fc.oneof(fc.integer({ min: 0, max: 50 }), fc.integer({ min: 4000, max: 5000 })), {
    maxLength: 60,
  })
  fc.assert(
    fc.property(sizes, fc.integer({ min: 0, max: 20_000 }), (lengths, keep) => {
      const queue = new ChunkQueue()
      const all: Uint8Array[] = []
      lengths.forEach((length, index) => {
        const chunk = bytes(length, index)
        all.push(chunk)
        queue.push(chunk)
        queue.dropOldest(keep)
      })
      const whole = Buffer.concat(all)
      const kept = joined(queue)
      expect(kept.length).toBeGreaterThanOrEqual(Math.min(keep, whole.length))
      expect(kept.equals(whole.subarray(whole.length - kept.length))).toBe(true)
    }),
  )
})
