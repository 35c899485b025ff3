import { counted } from "../base/text.ts"
import { type CodeSymbol, type FileFacts, isNamed, qualifiedName } from "../domain/code/symbol.ts"
import type { CodeParser, ParseLimits, Splice, SpliceRequest, SpliceSymbol } from "./contract.ts"
import { languageOfFile } from "./language-table.ts"
import { readParsed } from "./parser.ts"
import { fittedText, leadingPartsIn, leadingStart } from "./replacement.ts"
import { decodeSource, type SourceText } from "./source-text.ts"

/** Returns the function that replaces symbols, for files within the limits. */
export function createSplicer(parser: CodeParser, limits: ParseLimits): SpliceSymbol {
  return async request => {
    const { path, bytes } = request
    const before = await parser.parse(path, bytes)
    if (before === null) return { kind: "unparsed", reason: "its language is not known" }
    if (before.kind === "unparsed") return before
    const found = chosen(before.symbols, request)
    if ("kind" in found) return found
    const source = decodeSource(bytes, limits.lineCharactersMax)
    // The parser has just read these bytes.
    if ("reason" in source) return { kind: "unparsed", reason: source.reason }
    const change = await changeOf(request, found.only, source, limits)
    if (typeof change === "string") return { kind: "broken", reason: change }
    const after = await parser.parse(path, change.bytes)
    if (after?.kind !== "parsed")
      return { kind: "broken", reason: `the new file: ${after?.reason ?? "has no language"}` }
    return judged(before, after, found.only, change)
  }
}

function chosen(
  symbols: readonly CodeSymbol[],
  { symbol: typed, kind }: SpliceRequest,
): { readonly only: CodeSymbol } | Splice {
  const named = symbols.filter(symbol => isNamed(symbol, typed))
  const [only, ...more] = named.filter(symbol => kind === null || symbol.kind === kind)
  if (only === undefined) return { kind: "missing", others: named }
  return more.length === 0 ? { only } : { kind: "ambiguous", symbols: [only, ...more] }
}

interface Change {
  readonly bytes: Uint8Array
  /** The replaced bytes of the old file. */
  readonly byteStart: number
  readonly byteEnd: number
  /** The end of the replacement in the new file. */
  readonly newEnd: number
}

/** Computes the new bytes, or returns why they cannot be made. */
async function changeOf(
  { path, bytes, replacement }: SpliceRequest,
  symbol: CodeSymbol,
  source: SourceText,
  { parseMs }: ParseLimits,
): Promise<Change | string> {
  if (!replacement.isWellFormed()) return "the new text is not Unicode"
  if (![symbol.byteStart, symbol.byteEnd].every(at => isBoundary(bytes, at)))
    return "the symbol begins or ends inside a character"
  const language = languageOfFile(path, bytes)
  const end = lengthUntil(bytes, symbol.byteEnd)
  let start = lengthUntil(bytes, symbol.byteStart)
  const search = language === null || typeof language === "string" ? null : { language, parseMs }
  if (search !== null) {
    const parts = leadingPartsIn(replacement, search.language)
    const definition = start
    const found = await readParsed(search.language, source, parseMs, parsed => ({
      start: leadingStart(parsed, definition, parts),
    }))
    if (typeof found === "string") return found
    start = found.start
  }
  const text = Buffer.from(await fittedText(source.text, { start, end }, replacement, search))
  const byteStart = source.byteAt(start)
  const { byteEnd } = symbol
  return {
    bytes: Buffer.concat([bytes.subarray(0, byteStart), text, bytes.subarray(byteEnd)]),
    byteStart,
    byteEnd,
    newEnd: byteStart + text.length,
  }
}

function isBoundary(bytes: Uint8Array, at: number): boolean {
  return ((bytes[at] ?? 0) & 0xc0) !== 0x80
}

function lengthUntil(bytes: Uint8Array, end: number): number {
  return decoder.decode(bytes.subarray(0, end)).length
}

const decoder = new TextDecoder("utf-8", { ignoreBOM: true })

/** Accepts a change without new syntax errors that leaves the same symbol at its place and all others as they were. */
function judged(before: FileFacts, after: FileFacts, symbol: CodeSymbol, change: Change): Splice {
  const broken = (reason: string): Splice => ({ kind: "broken", reason })
  if (after.errorCount > before.errorCount)
    return broken(
      `the new file has ${counted(after.errorCount, "syntax error")}, the old one ${before.errorCount}`,
    )
  const { byteStart, byteEnd, newEnd, bytes } = change
  const isNew = (each: CodeSymbol) => each.byteStart >= byteStart && each.byteEnd <= newEnd
  const alike = after.symbols.filter(each => isNew(each) && isSame(each, symbol))
  const [only] = alike
  if (only === undefined || alike.length > 1) {
    const what = `${symbol.kind} ${qualifiedName(symbol)}`
    return broken(
      only === undefined
        ? `the new text does not define the ${what}`
        : `the new text defines the ${what} ${alike.length} times`,
    )
  }
  const moved = (at: number) => (at >= byteEnd ? at + newEnd - byteEnd : at)
  const rest = before.symbols
    .filter(each => each.byteStart < byteStart || each.byteEnd > byteEnd)
    .map(each => ({ ...each, byteStart: moved(each.byteStart), byteEnd: moved(each.byteEnd) }))
  const others = after.symbols.filter(each => !isNew(each))
  const changed = rest.find((each, index) => !isAt(each, others[index])) ?? others[rest.length]
  if (changed !== undefined)
    return broken(`the new text would change the ${changed.kind} ${qualifiedName(changed)} beside it`)
  return { kind: "spliced", bytes, symbol: only, replaced: { byteStart, byteEnd } }
}

function isSame(one: CodeSymbol, other: CodeSymbol): boolean {
  return one.name === other.name && one.kind === other.kind && one.container === other.container
}

function isAt(one: CodeSymbol, other: CodeSymbol | undefined): boolean {
  return (
    other !== undefined &&
    isSame(one, other) &&
    one.byteStart === other.byteStart &&
    one.byteEnd === other.byteEnd
  )
}
