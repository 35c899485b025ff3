import type { ModelItem } from "./contract.ts"

/** Where the items of a reply go, in their order. */
export type Tell = (item: ModelItem) => void

/** Takes the pieces of a reply as they come. Throws `ReplyFault` when it cannot be read; what it told before counts. */
export interface Taker<Piece> {
  take(piece: Piece): void
  /** Nothing more comes. */
  end(): void
}

/** Items that came together. */
export type Items = readonly ModelItem[]

/** The items of a reply that comes in chunks, together as those came. */
export async function* streamedItems(
  chunks: AsyncIterable<Uint8Array>,
  open: (tell: Tell) => Taker<Uint8Array>,
): AsyncGenerator<Items> {
  let items: ModelItem[] = []
  const taker = open(item => void items.push(item))
  const told = () => {
    const together = items
    items = []
    return together
  }
  try {
    for await (const chunk of chunks) {
      taker.take(chunk)
      if (items.length > 0) yield told()
    }
    taker.end()
  } catch (error) {
    yield told()
    throw error
  }
  yield told()
}

/** The items of a reply that came at once. */
export function* wholeItems(read: (tell: Tell) => void): Generator<Items> {
  const items: ModelItem[] = []
  try {
    read(item => void items.push(item))
  } catch (error) {
    yield items
    throw error
  }
  yield items
}
