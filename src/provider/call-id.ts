/**
 * The id of a call that came without one that can be used; the same when the reply is read again. It has nine letters
 * and digits because the templates of Mistral's models refuse a transcript with any other.
 */
export function ownCallId(replyIndex: number, place: number): string {
  return `c${written(replyIndex, 5)}${written(place, 3)}`
}

function written(number: number, length: number): string {
  return number.toString(36).padStart(length, "0")
}
