import type { Terminal } from "./terminal.ts"

/** All that is asked on a terminal, read page by page as a person does, until each row was on the screen. */
export async function shownPreview(terminal: Terminal): Promise<readonly string[]> {
  let page = await pageOf(terminal)
  const head = page.findIndex(row => row.startsWith("  operation"))
  const rows = [...page]
  for (let count = 0; rows.at(-1)?.startsWith("…") && count < pagesMax; count++) {
    rows.pop()
    terminal.clear()
    terminal.type("v")
    page = await pageOf(terminal)
    rows.push(...page.slice(page[0]?.startsWith("approval ") ? head : 0))
  }
  const first = rows.findIndex(row => row.startsWith(lineBar))
  return unwrapped(rows.slice(first))
}

const pagesMax = 500
const [lineBar, continuedBar] = ["  │ ", "  ┊ "]

/** The rows of a question that are on the screen, above the line for the answer. */
async function pageOf(terminal: Terminal): Promise<readonly string[]> {
  const screen = await terminal.see(/(?:^|\n)a .*\? (?:help )?>$/)
  const rows = screen.split("\n").slice(0, -1)
  const start = rows.findLastIndex(row => row.startsWith("approval ") || row === "view")
  return rows.slice(rows[start] === "view" ? start + 1 : Math.max(0, start)).filter(row => row !== "")
}

function unwrapped(rows: readonly string[]): readonly string[] {
  const lines: string[] = []
  for (const row of rows) {
    const text = row.slice(lineBar.length)
    if (row.startsWith(continuedBar)) lines.push(`${lines.pop() ?? ""}${text}`)
    else if (row.startsWith(lineBar)) lines.push(text)
    else throw new Error(`a row of a preview has no bar: ${row}`)
  }
  return lines
}

/**
 * The arguments of a command in what was shown of it, by the rules that the help of the question states: JSON in double
 * quotes, `⇥` and `␍` behind a bar, numbers before arguments where one has several lines. The last line says where.
 */
export function shownArguments(preview: readonly string[]): readonly string[] {
  const lines = preview.slice(0, -1)
  const [only = ""] = lines
  if (lines.length === 1) return words(only)
  const numbers = /^ *(\d+) /
  const width = numbers.exec(only)?.[0].length ?? 0
  const found: string[][] = []
  for (const line of lines) {
    const number = line.slice(0, width)
    if (number.trim() === "") found.at(-1)?.push(line.slice(width))
    else if (Number(number) === found.length + 1) found.push([line.slice(width)])
    else throw new Error(`argument ${number} follows argument ${found.length}`)
  }
  return found.map(argument => argument.map(textOf).join("\n"))
}

function textOf(shown: string): string {
  // The blank behind the bar of an empty line may be cut off at the end of the screen.
  if (/^\|(?: |$)/.test(shown)) return shown.slice(2).replaceAll("⇥", "\t").replaceAll("␍", "\r")
  const [word = "", ...more] = words(shown)
  if (more.length > 0) throw new Error(`two arguments in one place: ${shown}`)
  return word
}

/** Words as a POSIX shell splits them, but that double quotes are JSON. */
function words(line: string): readonly string[] {
  const part = /"(?:[^"\\]|\\.)*"|'[^']*'|\\'|[A-Za-z0-9_@%+=:,./-]+| /y
  const found: string[] = []
  let word: string | null = null
  while (part.lastIndex < line.length) {
    const at = part.lastIndex
    const text = part.exec(line)?.[0]
    if (text === undefined) throw new Error(`nothing is shown like this: ${line.slice(at)}`)
    if (text === " ") {
      if (word !== null) found.push(word)
      word = null
    } else word = (word ?? "") + partValue(text)
  }
  return word === null ? found : [...found, word]
}

function partValue(part: string): string {
  if (part.startsWith('"')) return JSON.parse(part)
  if (part.startsWith("'")) return part.slice(1, -1)
  return part === "\\'" ? "'" : part
}
