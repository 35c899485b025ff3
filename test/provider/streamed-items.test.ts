import { describe, expect, test } from "bun:test"
import type { ModelItem } from "../../src/provider/contract.ts"
import { type EmitItem, type Items, streamedItems, wholeItems } from "../../src/provider/streamed-items.ts"
import { text } from "./provider-kit.ts"

/** Tells each byte, the end as a point, and fails at an exclamation mark. */
const letters = (tell: EmitItem) => ({
  take: (chunk: Uint8Array) => {
    for (const letter of Buffer.from(chunk).toString("latin1")) {
      if (letter === "!") throw new Error("unreadable")
      if (letter !== "-") tell(text(letter))
    }
  },
  end: () => tell(text(".")),
})

async function* arriving(...pieces: readonly string[]): AsyncGenerator<Uint8Array> {
  for (const piece of pieces) yield Buffer.from(piece)
}

async function read(batches: AsyncIterable<Items> | Iterable<Items>) {
  const items: string[] = []
  let thrown: unknown = null
  try {
    for await (const together of batches) items.push(together.map(said).join(""))
  } catch (error) {
    thrown = error
  }
  return { items, thrown }
}

const said = (item: ModelItem) => (item.kind === "text" ? item.text : item.kind)

describe("items of a stream", () => {
  test("come together as their chunks came, and chunks that tell nothing make none", async () => {
    const { items } = await read(streamedItems(arriving("ab", "-", "c"), letters))
    expect(items).toEqual(["ab", "c", "."])
  })

  test("that were told before it could not be read still count", async () => {
    const { items, thrown } = await read(streamedItems(arriving("a", "bc!d", "e"), letters))
    expect(items).toEqual(["a", "bc"])
    expect(thrown).toEqual(new Error("unreadable"))
  })

  test("that no one wants any more end the stream", async () => {
    let isReturned = false
    async function* endless() {
      try {
        for (;;) yield Buffer.from("a")
      } finally {
        isReturned = true
      }
    }
    for await (const together of streamedItems(endless(), letters)) if (together.length > 0) break
    expect(isReturned).toBeTrue()
  })
})

test("items of a whole reply that were told before it could not be read count as well", async () => {
  const { items, thrown } = await read(wholeItems(tell => letters(tell).take(Buffer.from("ab!c"))))
  expect(items).toEqual(["ab"])
  expect(thrown).toEqual(new Error("unreadable"))
})
