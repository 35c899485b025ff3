import { hmacHex } from "../../base/canonical.ts"

/** Everything of an event that its hash covers, `data` as the canonical text that is stored. */
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

/** The last event of a stream, as the next one has to follow it. */
export type Link = Pick<ChainedFields, "seq" | "epoch"> & { readonly hash: string }

/**
 * Returns what shows that this is not the event that was written behind `previous` in its stream; null when nothing
 * does.
 */
export function eventProblem(
  key: Uint8Array,
  event: ChainedFields & { readonly hash: string },
  previous: Link | null,
): string | null {
  if (eventHash(key, event) !== event.hash) return "its content does not match its signature"
  const seq = (previous?.seq ?? 0) + 1
  if (event.seq !== seq) return `number ${seq} of its stream is expected here`
  if (event.prevHash !== (previous?.hash ?? noPrevious))
    return "it does not follow the event before it in its stream"
  if (event.epoch < (previous?.epoch ?? 0)) return "its owner had lost the stream before it was written"
  return null
}

/** Whether each column has its type: a hash does not distinguish a text from the same bytes stored as bytes. */
export function hasDeclaredTypes(event: ChainedFields & { readonly hash: string }): boolean {
  const texts = [event.stream, event.at, event.type, event.data, event.prevHash, event.hash]
  const numbers = [event.seq, event.position, event.epoch, event.version]
  return texts.every(text => typeof text === "string") && numbers.every(Number.isSafeInteger)
}

/** What is wrong with an event that lacks them. */
export const wrongType = "a column holds a value of another type than it is declared with"

/** The head of an empty log. It names the workspace, so that no log passes for that of another. */
export function firstHead(key: Uint8Array, workspaceId: string): string {
  return hmacHex(key, ["log", workspaceId])
}

/** The head after one more event: keyed, so that a shortened log cannot be given a head that fits. */
export function nextHead(key: Uint8Array, head: string, position: number, hash: string): string {
  return hmacHex(key, ["head", head, String(position), hash])
}

/** What is kept outside the workspace: the head of the log at one position. */
export interface AnchorFields {
  readonly position: number
  readonly head: string
  readonly at: string
  readonly root: string
}

export function anchorMac(key: Uint8Array, workspaceId: string, anchor: AnchorFields): string {
  return hmacHex(key, ["anchor", workspaceId, String(anchor.position), anchor.head, anchor.at, anchor.root])
}

/** Names a key without telling anything about it. */
export function keyIdOf(key: Uint8Array, workspaceId: string): string {
  return hmacHex(key, ["key", workspaceId]).slice(0, 32)
}
