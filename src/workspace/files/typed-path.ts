import { posix } from "node:path"
import { isPlainPath } from "../../base/plain-path.ts"
import { fileFailure, outsideWorkspace } from "../failures.ts"

/**
 * Checks a path as a model or a plan typed it, before the kernel resolves it, and returns it relative to the workspace;
 * an absolute path that does not start with `root` is returned absolute, for the caller to resolve. Refuses a path that
 * leads out, that would lead out on another system or after one more decoding, and one that displays as something else.
 * `..` between names and a slash at the end stay: only the kernel knows their meaning.
 */
export function checkTypedPath(typed: string, root: string): string {
  if (isOrdinary(typed)) return typed
  refuseMalformed(typed)
  refuseForeign(typed)
  const relative = typed.startsWith("/") ? withoutRoot(typed, root) : typed
  const checked = relative ?? typed.slice(1)
  if (climbs(checked)) throw outsideWorkspace(typed)
  refuseDisguise(typed, checked)
  for (const name of checked.split("/")) refuseName(typed, name)
  return relative === null ? typed : tidied(relative)
}

/** Reports whether a path passes every check below unchanged. */
function isOrdinary(typed: string): boolean {
  return typed.length <= nameBytesMax && !typed.startsWith("~") && isPlainPath(typed)
}

/** Returns the path as a reader understands it, without regard to symlinks. */
export function lexicalPath(relative: string): string {
  if (isPlainPath(relative)) return relative
  const normal = posix.normalize(relative)
  return normal.length > 1 && normal.endsWith("/") ? normal.slice(0, -1) : normal
}

const pathBytesMax = 4095
const nameBytesMax = 255

function refuseMalformed(typed: string): void {
  if (typed.trim() === "") throw fileFailure("malformed", typed, "is an empty path")
  if (Buffer.byteLength(typed) > pathBytesMax)
    throw fileFailure("malformed", `${typed.slice(0, 60)}…`, "is too long for a path")
  if (!typed.isWellFormed()) throw fileFailure("malformed", typed, "is not valid Unicode")
  if (typed.includes("\0")) throw fileFailure("malformed", typed, "contains a NUL byte")
  if (controlCharacter.test(typed)) throw fileFailure("malformed", typed, "contains a control character")
  if (invisibleCharacter.test(typed))
    throw fileFailure("malformed", typed, "contains an invisible or direction-changing character")
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it looks for
const controlCharacter = /[\u0000-\u001f\u007f-\u009f\u2028\u2029]/

/**
 * Matches characters that are invisible or reverse the text: two names that look alike are not the same file. The two
 * selectors that choose between text and emoji are ordinary in names.
 */
const invisibleCharacter =
  /(?![\ufe0e\ufe0f])[\p{Bidi_Control}\p{Default_Ignorable_Code_Point}\ufff9-\ufffb]/u

/** Refuses paths of other systems and of a shell: plain names to this kernel, but never meant as such. */
function refuseForeign(typed: string): void {
  if (/^[a-z][a-z0-9+.-]+:\/\//i.test(typed)) throw fileFailure("malformed", typed, "is a URL and not a path")
  if (/^[a-z]:/i.test(typed))
    throw outsideWorkspace(typed, "starts with a drive letter: it is outside workspace")
  if (/^[\\/]{2}|^\\/.test(typed))
    throw outsideWorkspace(typed, "names a network path or another root: it is outside workspace")
  if (/^~(?:[a-z_][a-z0-9_-]*)?(?:\/|$)/i.test(typed))
    throw outsideWorkspace(typed, "names a home directory: it is outside workspace")
  if (/:\$/.test(typed)) throw fileFailure("malformed", typed, "names a stream of a file")
}

/** Returns null when the path does not begin with the root. Compared by whole names: `/ws2` is not in `/ws`. */
function withoutRoot(typed: string, root: string): string | null {
  const names = typed.split("/").filter(name => name !== "" && name !== ".")
  const rootNames = root.split("/").filter(name => name !== "")
  if (!rootNames.every((name, index) => names[index] === name)) return null
  const rest = names.slice(rootNames.length).join("/")
  return `${rest || "."}${rest !== "" && /\/\.?$/.test(typed) ? "/" : ""}`
}

function climbs(path: string): boolean {
  let depth = 0
  for (const name of path.split("/")) {
    if (name === "..") depth -= 1
    else if (name !== "" && name !== ".") depth += 1
    if (depth < 0) return true
  }
  return false
}

/** Refuses `..` that only a later decoding, another system or a reader would recognise. */
function refuseDisguise(typed: string, relative: string): void {
  const plain = undisguised(relative)
  if (plain === relative) return
  if (controlCharacter.test(plain))
    throw fileFailure("malformed", typed, "contains an encoded control character")
  const dots = (path: string) => path.split("/").filter(name => name === ".." || name === ".").length
  if (plain.startsWith("/") || climbs(plain) || dots(plain) > dots(relative))
    throw outsideWorkspace(typed, "contains a disguised ..: it is refused as outside workspace")
}

/** Decodes until nothing changes, with a bound: `%252e` is `%2e` is `.`. */
function undisguised(path: string): string {
  let plain = path
  for (let round = 0; round < 5; round++) {
    const next = plain
      .replace(/%u([0-9a-f]{4})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
      .replace(/%c0%(ae|af)|%e0%80%(ae|af)/gi, found => (/ae$/i.test(found) ? "." : "/"))
      .replace(/%([0-7][0-9a-f])/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
      .normalize("NFKC")
      .replace(/[\\\u2044\u2215\u29f5\u29f8]/g, "/")
    if (next === plain) break
    plain = next
  }
  return plain
}

function refuseName(typed: string, name: string): void {
  if (Buffer.byteLength(name) > nameBytesMax)
    throw fileFailure("malformed", `${name.slice(0, 60)}…`, "is too long for a name")
  if (name === "" || name === "." || name === "..") return
  if (/^[.\s]+$/.test(name)) throw fileFailure("malformed", typed, "contains a name of dots and spaces only")
  if (/\s$/.test(name)) throw fileFailure("malformed", typed, "contains a name that ends in a space")
}

function tidied(relative: string): string {
  const names = relative.split("/").filter(name => name !== "" && name !== ".")
  if (names.length === 0) return "."
  return `${names.join("/")}${/\/\.?$/.test(relative) ? "/" : ""}`
}
