/** The id of a call that came without one that can be used; the same when the reply is read again. */
export function ownCallId(replyIndex: number, place: number): string {
  return `call_${replyIndex}_${place}`
}
