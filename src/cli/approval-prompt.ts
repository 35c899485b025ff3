import type { ApprovalPrompt, ApprovalQuestion, PromptedAnswer } from "../app/approval-desk.ts"
import { printable } from "../base/text.ts"
import { approvalLines, previewLines } from "./approval-text.ts"
import type { Key } from "./key-reader.ts"
import { Keyboard } from "./keyboard.ts"
import type { Output } from "./output.ts"

/** Asks the person at the terminal. Whatever happens, the terminal is afterwards as it was. */
export function approvalPrompt(output: Output): ApprovalPrompt {
  return async (question, dismissed) => {
    using keyboard = new Keyboard(dismissed)
    const asking: Asking = { question, output, keyboard, isWholeShown: false }
    show(asking, screenRows(question))
    for (;;) {
      output.question(`${choices(question)} > `)
      const given = await answerTo(await keyboard.key(), asking)
      if (given === "again") continue
      // The line of the question is left, so that whatever comes next has a line of its own.
      if (given === "gone") output.question("\n")
      return given === "gone" ? (dismissed.aborted ? null : { answer: "stopped", reason: null }) : given
    }
  }
}

interface Asking {
  readonly question: ApprovalQuestion
  readonly output: Output
  readonly keyboard: Keyboard
  /** Nothing is approved of which a part was never on the screen. */
  isWholeShown: boolean
}

/** So many rows of a preview fit above the question. */
function screenRows({ approval }: ApprovalQuestion): number {
  const taken = approvalLines(approval).length + 4
  return Math.max(5, (process.stderr.rows ?? 24) - taken)
}

/** `again` asks once more; `gone` is the end of the question without an answer. */
type Given = PromptedAnswer | "again" | "gone"

async function answerTo(key: Key | null, asking: Asking): Promise<Given> {
  const { output } = asking
  if (key === null) return "gone"
  if (key.kind === "interrupt") return said(output, "stop", { answer: "stopped", reason: null })
  if (key.kind === "other") return again(output, "one of the keys a d s v e x ?")
  switch (key.text.toLowerCase()) {
    case "a":
      if (!asking.isWholeShown) return shownFirst(asking)
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
      show(asking, Number.POSITIVE_INFINITY)
      return "again"
    case "?":
      return again(output, helpText(asking))
    default:
      return again(output, `"${printable(key.text)}" is none of the keys a d s v e x ?`)
  }
}

function shownFirst(asking: Asking): "again" {
  asking.output.question("\n")
  show(asking, Number.POSITIVE_INFINITY)
  asking.output.question("this is all of it: press a again to approve it\n")
  return "again"
}

function isOffered({ question }: Asking, ...names: readonly string[]): boolean {
  return names.some(name => question.options.includes(name))
}

function asWritten(what: string): string {
  return `a plan runs exactly as written: no step of it can be ${what}. Deny it, or stop and change the plan.`
}

/** What is to be different is told to whoever asked, who may ask again: acode itself changes nothing in between. */
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

function show(asking: Asking, rowsMax: number): void {
  const { approval } = asking.question
  const columns = process.stderr.columns ?? 80
  const { lines, isWhole } = previewLines(approval.preview, columns, rowsMax)
  asking.isWholeShown ||= isWhole
  const shown = approval.preview === "" ? [] : lines
  asking.output.question(`\n${[...shown, ...approvalLines(approval)].join("\n")}\n`)
}

function choices({ options }: ApprovalQuestion): string {
  const words = ["a approve", "d deny"]
  if (options.includes("skip")) words.push("s skip")
  words.push("v view")
  if (options.includes("modify") || options.includes("edit")) words.push("e edit")
  return [...words, "x stop", "? help"].join(" · ")
}

function helpText(asking: Asking): string {
  const rows = [
    "a  approve: do exactly what is shown, once",
    "d  deny: do not do it",
    ...(isOffered(asking, "skip") ? ["s  skip: leave this one out and go on"] : []),
    "v  view: the whole preview",
    ...(isOffered(asking, "modify", "edit") ? ["e  edit: deny it and say what is to be different"] : []),
    "x  stop: deny it and end the session (also Ctrl-C)",
    ...(asking.question.approval.isRedacted
      ? []
      : [`\`acode approve ${asking.question.approval.id}\` answers from another terminal`]),
  ]
  return rows.join("\n")
}
