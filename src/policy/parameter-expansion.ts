import { visibleBut } from "./alphabet.ts"
import { isSecretAlone } from "./judgement.ts"
import { byteAt, type Found, foundFrom, judgedEnd, type Scene, textAt } from "./scene.ts"

const dollar = 36
const brace = 123

/** Whether `${` stands at this place. */
export function isExpansion(scene: Scene, at: number): boolean {
  return at >= scene.floor && byteAt(scene, at) === dollar && byteAt(scene, at + 1) === brace
}

/**
 * The default of `${NAME:-default}`, of the other operators of a shell and of `${name:default}`, where it looks like a
 * secret by itself: its name is the name of a variable and says nothing about it. Null when it does not.
 */
export function defaultIn(scene: Scene, expansionAt: number): Found | null {
  let at = expansionAt
  // A default may be an expansion itself.
  for (let depth = 0; depth < 4 && isExpansion(scene, at); depth++) {
    const head = expansionHead.exec(textAt(scene, at, at + headBytesMax))
    if (head === null) return null
    at += head[0].length
  }
  const end = judgedEnd(scene, at, value)
  return isSecretAlone(textAt(scene, at, end)) ? foundFrom(scene, at, at, end, value) : null
}

const headBytesMax = 128
const expansionHead = /^\$\{[A-Za-z_][\w.-]{0,63}?(?::?[-=?+]|:)["']?/
const value = { members: visibleBut("\"'`,;&()[]{}<>|\\"), escapes: false }
