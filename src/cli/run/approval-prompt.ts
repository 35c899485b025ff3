import type { ApprovalPrompt, ApprovalQuestion, PromptedAnswer } from "../../app/approval-desk.ts"
import { printable } from "../../base/text.ts"
import type { Output } from "../output.ts"
import { approvalLines, questionRows, wrappedLines } from "../render/approval-text.ts"
import { type Key, Keyboard } from "../terminal/keyboard.ts"

/** Asks the person at the terminal, and restores the terminal afterwards in every case. */
export function approvalPrompt(output: Output): ApprovalPrompt {
  return async (question, dismissed) => {
    using keyboard = new Keyboard(dismissed)
    const asking: Asking = { question, output, keyboard, columns: 0, shownRows: 0, isWhole: false }
    showMore(asking)
    for (;;) {
      output.question(choices(question))
      const given = await answerTo(await keyboard.key(), asking)
      if (given === "again") continue
      // Ends the line of the question, so that the next output begins on its own line.
      if (given === "gone") output.question("\n")
      return given === "gone" ? (dismissed.aborted ? null : { answer: "stopped", reason: null }) : given
    }
  }
}

interface Asking {
  readonly question: ApprovalQuestion
  readonly output: Output
  readonly keyboard: Keyboard
  /** The width of the terminal for which the shown rows were wrapped. */
  columns: number
  /** The number of rows that have been shown. */
  shownRows: number
  /** True when every row has been on the screen. Nothing can be approved before. */
  isWhole: boolean
}

function screen(): { readonly columns: number; readonly rows: number } {
  // A terminal of unknown size reports 0.
  return { columns: process.stderr.columns || 80, rows: process.stderr.rows || 24 }
}

/**
 * Shows the next part of the question that fits on the screen above the line for the answer. Starts again after the
 * last part, and when the width of the terminal has changed. Each part begins with what the call could reach.
 */
function showMore(asking: Asking): void {
  const { columns, rows: height } = screen()
  const { approval } = asking.question
  const rows = questionRows(approval, columns)
  const from = asking.columns === columns && asking.shownRows < rows.length ? asking.shownRows : 0
  const head = wrappedLines(approvalLines(approval).slice(0, 1), columns)
  const above = from === 0 || head.length > height / 4 ? [] : head
  const blank = height < 10 ? "" : "\n"
  const room = Math.max(2, height - rowsOf(choices(asking.question), columns) - blank.length - above.length)
  const to = rows.length - from <= room ? rows.length : from + room - 1
  const below = to === rows.length ? [] : [`… ${to} of ${rows.length} rows, v: more`.slice(0, columns)]
  asking.output.question(`${blank}${[...above, ...rows.slice(from, to), ...below].join("\n")}\n`)
  asking.isWhole ||= to === rows.length
  asking.columns = columns
  asking.shownRows = to
}

function rowsOf(text: string, columns: number): number {
  return Math.max(1, Math.ceil((Bun.stringWidth(text) + 1) / columns))
}

/** The effect of a key: an answer, `again` to ask once more, or `gone` when the question ended without an answer. */
type Given = PromptedAnswer | "again" | "gone"

async function answerTo(key: Key | null, asking: Asking): Promise<Given> {
  const { output } = asking
  if (key === null) return "gone"
  if (key.kind === "interrupt") return said(output, "stop", { answer: "stopped", reason: null })
  if (key.kind === "other") return again(output, "one of the keys a d s v e x ?")
  switch (key.text.toLowerCase()) {
    case "a":
      if (!asking.isWhole) return again(output, "not all of it was shown yet: v shows more")
      return said(output, "approve", { answer: "granted", reason: null })
    case "d":
      return said(output, "deny", { answer: "refused", reason: null })
    case "x":
      return said(output, "stop", { answer: "stopped", reason: null })
    case "s":
      if (!isOffered(asking, "skip")) return again(output, asWritten("skipped"))
      return said(output, "skip", { answer: "skipped", reason: null })
    case "e":
      if (!isOffered(asking, "modify", "edit")) return again(output, asWritten("edited"))
      return edited(asking)
    case "v":
      output.question("view\n")
      showMore(asking)
      return "again"
    case "?":
      return again(output, helpText(asking))
    default:
      return again(output, `"${printable(key.text)}" is none of the keys a d s v e x ?`)
  }
}

function isOffered({ question }: Asking, ...names: readonly string[]): boolean {
  return names.some(name => question.options.includes(name))
}

function asWritten(what: string): string {
  return `a plan runs exactly as written: no step of it can be ${what}. Deny it, or stop and change the plan.`
}

/** Denies with a wish for changes. The model receives the wish and may ask again; acode itself changes nothing. */
async function edited({ output, keyboard }: Asking): Promise<Given> {
  output.question("edit\nwhat is to be different? (empty: back) > ")
  const line = await keyboard.line()
  if (line === null) return "gone"
  const wish = line.trim()
  return wish === "" ? "again" : { answer: "refused", reason: wish }
}

function said(output: Output, word: string, answer: PromptedAnswer): PromptedAnswer {
  output.question(`${word}\n`)
  return answer
}

function again(output: Output, sentence: string): "again" {
  output.question(`\n${sentence}\n`)
  return "again"
}

/** Returns the keys that can be typed, with their meanings if the terminal is wide enough. */
function choices({ options }: ApprovalQuestion): string {
  const words = ["a approve", "d deny"]
  if (options.includes("skip")) words.push("s skip")
  words.push("v view")
  if (options.includes("modify") || options.includes("edit")) words.push("e edit")
  const all = [...words, "x stop", "? help"]
  const line = `${all.join(" · ")} > `
  return line.length < screen().columns ? line : `${all.map(word => word.charAt(0)).join(" ")} > `
}

function helpText(asking: Asking): string {
  const rows = [
    "a  approve: do exactly what is shown, once",
    "d  deny: do not do it",
    ...(isOffered(asking, "skip") ? ["s  skip: omit this one and continue"] : []),
    "v  view: the next part of it, or all of it again",
    ...(isOffered(asking, "modify", "edit") ? ["e  edit: deny it and say what is to be different"] : []),
    "x  stop: deny it and end the session (also Ctrl-C)",
    ...(asking.question.approval.isRedacted
      ? []
      : [`\`acode approve ${asking.question.approval.id}\` answers from another terminal`]),
    'a line in "quotes" is JSON: it has characters that cannot be seen;',
    "⇥ is a tab, ␍ a carriage return, and what is behind ┊ continues the line above",
  ]
  return rows.join("\n")
}
