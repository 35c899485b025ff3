import { hmacHex } from "../../base/canonical.ts"

/** The fields of an event that its hash covers; `data` is the canonical text that is stored. */
export interface ChainedFields {
  readonly stream: string
  readonly seq: number
  readonly position: number
  readonly epoch: number
  readonly at: string
  readonly type: string
  readonly version: number
  readonly data: string
  readonly prevHash: string
}

/** The `prevHash` of the first event of a stream. */
export const noPrevious = ""

export function eventHash(key: Uint8Array, event: ChainedFields): string {
  return hmacHex(key, [
    "event",
    event.stream,
    String(event.seq),
    String(event.position),
    String(event.epoch),
    event.at,
    event.type,
    String(event.version),
    event.data,
    event.prevHash,
  ])
}

/** The fields of a stream's last event that the next one must continue. */
export type Link = Pick<ChainedFields, "seq" | "epoch"> & { readonly hash: string }

/** Returns why this is not the event that was written behind `previous` in its stream; null if it is. */
export function eventProblem(
  key: Uint8Array,
  event: ChainedFields & { readonly hash: string },
  previous: Link | null,
): string | null {
  if (eventHash(key, event) !== event.hash) return "its content does not match its signature"
  const seq = (previous?.seq ?? 0) + 1
  if (event.seq !== seq) return `its stream continues with number ${seq} here`
  if (event.prevHash !== (previous?.hash ?? noPrevious))
    return "it does not follow the event before it in its stream"
  if (event.epoch < (previous?.epoch ?? 0))
    return "its writer had lost the lease of the stream before it was written"
  return null
}

/**
 * Returns whether each column has its type: a hash does not distinguish a text from the same bytes stored as binary.
 */
export function hasDeclaredTypes(event: ChainedFields & { readonly hash: string }): boolean {
  const texts = [event.stream, event.at, event.type, event.data, event.prevHash, event.hash]
  const numbers = [event.seq, event.position, event.epoch, event.version]
  return texts.every(text => typeof text === "string") && numbers.every(Number.isSafeInteger)
}

/** Describes an event with a column of the wrong type. */
export const wrongType = "a column holds a value of the wrong type"

/**
 * Returns the head of an empty log. It covers the workspace id, so that no log is accepted as that of another
 * workspace.
 */
export function firstHead(key: Uint8Array, workspaceId: string): string {
  return hmacHex(key, ["log", workspaceId])
}

/**
 * Returns the head after one more event. It is keyed, so that a process without the key cannot compute a head for a
 * shortened log.
 */
export function nextHead(key: Uint8Array, head: string, position: number, hash: string): string {
  return hmacHex(key, ["head", head, String(position), hash])
}

/** The fields of an anchor that its MAC covers: the head of the log at one position. */
export interface AnchorFields {
  readonly position: number
  readonly head: string
  readonly at: string
  readonly root: string
}

export function anchorMac(key: Uint8Array, workspaceId: string, anchor: AnchorFields): string {
  return hmacHex(key, ["anchor", workspaceId, String(anchor.position), anchor.head, anchor.at, anchor.root])
}

/** Returns the id of a key, which reveals nothing about the key. */
export function keyIdOf(key: Uint8Array, workspaceId: string): string {
  return hmacHex(key, ["key", workspaceId]).slice(0, 32)
}
