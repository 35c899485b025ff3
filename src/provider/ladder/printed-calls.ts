import { type CallReading, callsOf, type PrintedCall } from "./call-shape.ts"
import { readJson, skipSpace } from "./json-text.ts"

/** A syntax for printed calls. */
interface Syntax {
  readonly open: RegExp
  /** The closing mark; may be missing only at the very end of a reply. */
  readonly close: string | null
  /**
   * True when nothing else is written like this, so that text that cannot be parsed is a problem and not an answer.
   */
  readonly isMarked: boolean
}

const blockSyntax: Syntax = { open: /```tool(?:_calls?)?[^\S\n]*\n/y, close: "```", isMarked: true }

const syntaxes: readonly Syntax[] = [
  { open: /<tool_call>/y, close: "</tool_call>", isMarked: true },
  { open: /<function=([^>\s]+)>/y, close: "</function>", isMarked: true },
  { open: /\[TOOL_CALLS\]/y, close: null, isMarked: true },
  { open: /<\|python_tag\|>/y, close: null, isMarked: true },
  blockSyntax,
  { open: /```(?:json)?[^\S\n]*\n/y, close: "```", isMarked: false },
  { open: /(?=[{[])/y, close: null, isMarked: false },
]

/** The texts that a reply begins with when it is a printed call; no other text has to be held back. */
export const printedOpenings: readonly string[] = [
  ...["<tool_call>", "<function=", "<|python_tag|>", "[", "{"],
  ...["```tool", "```json", "```\n", "```\r\n"],
]

/** Reads a text that consists of printed calls, all in one syntax, and of nothing else. */
export function readPrinted(text: string, offered: ReadonlySet<string>): CallReading {
  let at = skipSpace(text, 0)
  const syntax = syntaxAt(text, at)
  if (syntax === null) return { kind: "none" }
  const calls: PrintedCall[] = []
  while (at < text.length) {
    const unit = readUnit(text, at, syntax, offered)
    if (unit.kind === "none" && calls.length > 0) return behind(calls)
    if (unit.kind !== "calls") return unit
    calls.push(...unit.calls)
    at = skipEndMarks(text, unit.end)
    if (at < text.length && syntaxAt(text, at) !== syntax) return behind(calls)
  }
  return { kind: "calls", calls }
}

type BlockReading = CallReading & { readonly kept?: string }

/** Reads every block fenced by three backticks and the word tool; the text around them is kept. */
export function readBlocks(text: string, offered: ReadonlySet<string>): BlockReading {
  const calls: PrintedCall[] = []
  const kept: string[] = []
  let at = 0
  for (let start = nextBlock(text, 0); start !== null; start = nextBlock(text, at)) {
    const unit = readUnit(text, start, blockSyntax, offered)
    // All or none: a model that learns that one call was wrong would repeat the others.
    if (unit.kind !== "calls") return unit
    kept.push(text.slice(at, start))
    calls.push(...unit.calls)
    at = unit.end
  }
  if (calls.length === 0) return { kind: "none" }
  return { kind: "calls", calls, kept: [...kept, text.slice(at)].join("") }
}

/** Returns the first offered tool whose call is printed inside other text; null when there is none. */
export function embeddedCall(text: string, offered: ReadonlySet<string>): string | null {
  let candidateCount = 0
  for (const { index } of text.matchAll(candidate)) {
    candidateCount += 1
    if (candidateCount > candidatesMax) return null
    const at = skipSpace(text, index)
    const syntax = syntaxAt(text, at)
    const unit = syntax === null ? null : readUnit(text, at, syntax, offered)
    if (unit?.kind === "calls") return unit.calls[0]?.tool ?? null
  }
  return null
}

const candidate =
  /<tool_call>|<function=[^>\s]+>|\[TOOL_CALLS\]|<\|python_tag\|>|^```\w*[^\S\n]*\n(?=\s*[[{])|^[^\S\n]*[[{]/gm

/** The most candidates to read: each may be read to the end of the text. */
const candidatesMax = 20

type Unit =
  | { readonly kind: "calls"; readonly calls: readonly PrintedCall[]; readonly end: number }
  | Exclude<CallReading, { kind: "calls" }>

/** Reads one opening mark with its values and its closing mark. */
function readUnit(text: string, start: number, syntax: Syntax, offered: ReadonlySet<string>): Unit {
  syntax.open.lastIndex = start
  const opening = syntax.open.exec(text)
  if (opening === null) return { kind: "none" }
  const [{ length }, tool] = opening
  const calls: PrintedCall[] = []
  let at = skipSpace(text, start + length)
  do {
    const json = readJson(text, at)
    if (json.problem !== undefined) return misprinted(text.slice(start), syntax, json.problem, offered)
    const reading = callsOf(tool === undefined ? json.value : { tool, arguments: json.value }, offered)
    if (reading.kind === "none" && (syntax.isMarked || calls.length > 0)) return noCall
    if (reading.kind !== "calls") return reading
    calls.push(...reading.calls)
    at = skipSeparators(text, json.end)
  } while (/^(?:\{|\[(?!TOOL_CALLS))/.test(text.slice(at, at + 12)))
  if (syntax.close === null || at >= text.length) return { kind: "calls", calls, end: at }
  if (text.startsWith(syntax.close, at)) return { kind: "calls", calls, end: at + syntax.close.length }
  return { kind: "problem", problem: `a printed call is not followed by ${syntax.close}` }
}

const noCall: CallReading & { readonly kind: "problem" } = {
  kind: "problem",
  problem: 'the printed call is not valid; a call is {"tool": NAME, "arguments": {…}}',
}

function misprinted(text: string, { isMarked }: Syntax, problem: string, offered: ReadonlySet<string>): Unit {
  const named = /"(?:tool|name|function)"\s*:\s*"([^"]{1,100})"/.exec(text)?.[1]
  // Other JSON that is broken is an ordinary answer.
  if (!isMarked && (named === undefined || !offered.has(named))) return { kind: "none" }
  return { kind: "problem", problem: `a printed call is not JSON: ${problem}` }
}

function behind(calls: readonly PrintedCall[]): CallReading {
  return { kind: "problem", problem: `the printed call of ${calls.at(-1)?.tool} is followed by other text` }
}

function syntaxAt(text: string, at: number): Syntax | null {
  const found = syntaxes.find(({ open }) => {
    open.lastIndex = at
    return open.test(text)
  })
  return found ?? null
}

function nextBlock(text: string, from: number): number | null {
  const start = /^```tool(?:_calls?)?[^\S\n]*\n/gm
  start.lastIndex = from
  return start.exec(text)?.index ?? null
}

function skipSeparators(text: string, at: number): number {
  const separators = /[\s;]*/y
  separators.lastIndex = at
  return at + (separators.exec(text)?.[0].length ?? 0)
}

/** Skips end marks that a server ought to have removed. */
function skipEndMarks(text: string, at: number): number {
  const marks = /(?:\s|<\|(?:eom_id|eot_id|im_end|end|endoftext)\|>|<\/s>)*/y
  marks.lastIndex = at
  return at + (marks.exec(text)?.[0].length ?? 0)
}
