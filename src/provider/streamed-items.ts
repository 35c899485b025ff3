import type { ModelItem } from "./contract.ts"

/** Receives the items of a reply in order. */
export type EmitItem = (item: ModelItem) => void

/**
 * Consumes the pieces of a reply as they arrive. Throws `ReplyFault` when one cannot be read; items emitted before
 * remain valid.
 */
export interface PieceReader<Piece> {
  take(piece: Piece): void
  /** Called after the last piece. */
  end(): void
}

/** Items that arrived together. */
export type Items = readonly ModelItem[]

/** Yields the items of a streamed reply, grouped by the chunks they arrived in. */
export async function* streamedItems(
  chunks: AsyncIterable<Uint8Array>,
  open: (emit: EmitItem) => PieceReader<Uint8Array>,
): AsyncGenerator<Items> {
  let items: ModelItem[] = []
  const reader = open(item => void items.push(item))
  const flush = () => {
    const batch = items
    items = []
    return batch
  }
  try {
    for await (const chunk of chunks) {
      reader.take(chunk)
      if (items.length > 0) yield flush()
    }
    reader.end()
  } catch (error) {
    yield flush()
    throw error
  }
  yield flush()
}

/** Yields the items of a reply that arrived as a whole. */
export function* wholeItems(read: (emit: EmitItem) => void): Generator<Items> {
  const items: ModelItem[] = []
  try {
    read(item => void items.push(item))
  } catch (error) {
    yield items
    throw error
  }
  yield items
}
