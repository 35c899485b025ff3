import { type Checker, isSource, type LineReader, levelNamed, projectAbove } from "../checker.ts"
import type { PrintedDiagnostic } from "../contract.ts"

export const cargoChecker: Checker = {
  name: "cargo",
  kind: "Rust",
  programs: ["cargo"],
  callFor: (checked, files) => {
    if (!checked.isDirectory && !isSource(checked, ["rs"])) return null
    const project = projectAbove(checked, files, name => name === "Cargo.toml")
    if (project === null)
      return checked.isDirectory ? null : { reason: "there is no Cargo.toml beside the file or above it" }
    // Without a network a registry that has to be asked would only be waited for.
    return { cwd: project, arguments: ["check", "--offline", "--message-format=json"], isProject: true }
  },
  reader: cargoReader,
}

/** Messages are JSON; a problem with the project itself is plain text. */
function cargoReader(): LineReader {
  return line => {
    if (line.startsWith("{")) return messageOf(line)
    const [whole, level = "", message = ""] = /^(error|warning): (.*)$/.exec(line) ?? []
    if (whole === undefined) return printed.test(line) ? "text" : "unread"
    // The compiler's own messages have said it already.
    if (/^could not compile |^`.*` \(.*\) generated \d+ warning|^build failed/.test(message)) return "text"
    return { level: levelNamed(level), message, file: "", line: 0, column: null, code: null }
  }
}

/** Progress, and what stands below a message: its place, the line, its cause. */
const printed = /^(?:\s|$|\||\d+ +\||Caused by:|note: |help: |For more information|Some errors have)/

function messageOf(line: string): PrintedDiagnostic | "text" | "unread" {
  const event = parsed(line)
  const reason = member(event, "reason")
  if (typeof reason !== "string") return "unread"
  const message = member(event, "message")
  if (reason !== "compiler-message") return "text"
  const [text, level] = [member(message, "message"), member(message, "level")]
  if (typeof text !== "string" || typeof level !== "string") return "unread"
  // A summary of the messages before it.
  if (level === "failure-note" || /^aborting due to|^\d+ warnings? emitted/.test(text)) return "text"
  const spans = member(message, "spans")
  const list: readonly unknown[] = Array.isArray(spans) ? spans : []
  // A message shows several places; only the primary one is where the problem is.
  const primary = list.find(span => member(span, "is_primary") === true) ?? null
  const [file, row, column] = ["file_name", "line_start", "column_start"].map(name => member(primary, name))
  const code = member(member(message, "code"), "code")
  return {
    level: levelNamed(level),
    message: text,
    file: typeof file === "string" ? file : "",
    line: typeof row === "number" ? row : 0,
    column: typeof column === "number" ? column : null,
    code: typeof code === "string" ? code : null,
  }
}

function parsed(line: string): unknown {
  try {
    return JSON.parse(line)
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
    // Half a line, of a compiler that was killed.
    return null
  }
}

function member(value: unknown, name: string): unknown {
  if (typeof value !== "object" || value === null || !Object.hasOwn(value, name)) return undefined
  return Object.entries(value).find(([key]) => key === name)?.[1]
}
