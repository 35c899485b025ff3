import { visibleBut } from "../../base/byte-sets.ts"
import { isKept } from "../judgement.ts"
import { byteAt, extentEnd, type Matcher, textAt } from "../scene.ts"

const userinfoBytesMax = 512
const userinfo = { members: visibleBut("/?#,|\"'`<>\\"), escapes: false }
const at = 64

/** Finds the password of `scheme://name:password@host`, or a name without password that is a token. */
export const urlMatcher: Matcher = (scene, position, anchorLength) => {
  const from = position + anchorLength
  const limit = Math.min(scene.end, from + userinfoBytesMax)
  const end = extentEnd(scene.bytes, from, limit, userinfo)
  let host = end - 1
  while (host >= from && byteAt(scene, host) !== at) host -= 1
  if (host <= from) return null
  const text = textAt(scene, from, host)
  const colon = text.indexOf(":")
  const password = text.slice(colon + 1)
  if (isKept(password) || text.includes("[REDACTED") || isExpression(password)) return null
  if (colon < 0) {
    const isToken = /^(?=.*\d)(?=.*[A-Za-z])[A-Za-z0-9_-]{20,}$/.test(text)
    if (!isToken || publicName.test(textAt(scene, from, end + publicPathBytes))) return null
    return { start: from, end: host, extent: null }
  }
  if (
    /^\[?(?:user|username|name|admin|root|me)$/i.test(text.slice(0, colon)) &&
    genericPassword.test(password)
  )
    return null
  return { start: from + colon + 1, end: host, extent: null }
}

/** Passwords that are documentation when the name is generic as well. */
const genericPassword = /^(?:pass|password|pw|pwd|passwd|secret)$/i
/** Matches the address for error reports, whose key every visitor of a page can read. */
const publicName = /^[0-9a-f]{32}@[^/\s]{1,100}\/(?:[\w-]{1,32}\/)?\d{1,20}(?![\w/])/
const publicPathBytes = 64

/** Reports whether the password is part of a regular expression that matches addresses. */
function isExpression(password: string): boolean {
  return /\[\^|\(\?|[)\]][+*?]|\\[wdsS]|\.[+*]/.test(password)
}
