/**
 * Returns true for a relative path that is its own normal form except for case, as nearly every path is. Nothing in
 * it has to be decoded, resolved or folded, so a caller may skip these steps.
 */
export function isPlainPath(path: string): boolean {
  let before = slash
  for (let index = 0; index < path.length; index++) {
    const code = path.charCodeAt(index)
    if (plain[code] !== 1) return false
    // An empty part, `.`, `..`, or a part that ends in a dot.
    if (code === slash && (before === slash || before === dot)) return false
    before = code
  }
  return before !== slash && before !== dot
}

const slash = 47
const dot = 46
const plain = new Uint8Array(128)
for (const sign of "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_./@+~-")
  plain[sign.charCodeAt(0)] = 1
