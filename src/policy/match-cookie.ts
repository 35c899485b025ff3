import { alphabetOf } from "./alphabet.ts"
import { isKept, isRandom } from "./judgement.ts"
import { extentEnd, judgedBytes, type Matcher, textAt } from "./scene.ts"

const head = /^cookie\\*["']?\]?[ \t]{0,4}(?:[:=]|,(?=[ \t]*\\*["']))[ \t]{0,4}\\*["'`]?/i
const headBytesMax = 32
const pair = /([^\s;=,"'`\\]{1,128})=([^\s;,"'`\\]*)/g
/** Tried first, because it says no at once. */
const anyValue = /=[^\s;,"'`\\]{8}/
const rest = { members: alphabetOf(/[^"'`\\\r\n]/), escapes: false }
/** What a server says about a cookie, and names under which there is never a secret. */
const harmless =
  /^(?:path|domain|expires|max-age|samesite|version|priority|_g[aid]\w*|_gat\w*|utm\w*|lang|locale|theme)$/i
const sessionName = /sess|sid$|auth|csrf|xsrf|remember|login|jwt|token/i
const valueMin = 8
const randomMin = 16

/** The values of a cookie header that nobody would choose: `sessionid=…`, but not `theme=dark`. */
export const cookieMatcher: Matcher = (scene, at) => {
  const found = head.exec(textAt(scene, at, at + headBytesMax))
  if (found === null) return null
  const from = at + found[0].length
  const end = extentEnd(scene.bytes, from, Math.min(scene.end, from + judgedBytes), rest)
  const text = textAt(scene, from, end)
  if (!anyValue.test(text)) return null
  const spans: { start: number; end: number }[] = []
  for (const match of text.matchAll(pair)) {
    const [whole, name = "", value = ""] = match
    const start = from + match.index + whole.length - value.length
    if (isSecret(name, value)) spans.push({ start, end: start + value.length })
  }
  const goesOn = end - from >= judgedBytes && spans.length > 0
  // A header that is longer than what is judged is replaced from the last secret on.
  const last = goesOn ? spans.pop() : undefined
  if (last !== undefined) spans.push({ start: last.start, end: extentEnd(scene.bytes, end, scene.end, rest) })
  const [first, ...also] = spans
  if (first === undefined) return null
  return { ...first, also, extent: goesOn ? rest : null }
}

function isSecret(name: string, value: string): boolean {
  if (harmless.test(name) || isKept(value)) return false
  if (sessionName.test(name)) return value.length >= valueMin && /\d/.test(value)
  return value.length >= randomMin && isRandom(value)
}
