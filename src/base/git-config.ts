/** One variable of a git configuration file. Section and name are in lower case, the subsection is unchanged. */
export interface GitVariable {
  readonly section: string
  readonly subsection: string | null
  readonly name: string
  /** Null where the line has no `=`, which git reads as true. */
  readonly value: string | null
}

/**
 * Parses a git configuration file as git does, without running git, which could run programs that the file names.
 * Returns the variables in order, up to the first line that git would reject; git itself then does nothing at all.
 */
export function readGitConfig(text: string): readonly GitVariable[] {
  const lines = text.replace(/^\ufeff/, "").replaceAll("\r\n", "\n")
  const variables: GitVariable[] = []
  let section: Pick<GitVariable, "section" | "subsection"> | null = null
  for (let at = 0; at < lines.length; ) {
    blank.lastIndex = at
    at += blank.exec(lines)?.[0].length ?? 0
    if (at >= lines.length) break
    if (lines[at] === "[") {
      header.lastIndex = at
      const found = header.exec(lines)
      if (found === null) return variables
      section = sectionOf(found)
      at += found[0].length
      continue
    }
    variable.lastIndex = at
    const found = variable.exec(lines)
    if (found === null || section === null) return variables
    at += found[0].length
    const name = (found[1] ?? "").toLowerCase()
    if (found[2] === undefined) {
      variables.push({ ...section, name, value: null })
      continue
    }
    const value = readValue(lines, at)
    if (value === null) return variables
    variables.push({ ...section, name, value: value.text })
    at = value.end
  }
  return variables
}

/** Matches space, empty lines and comments. */
const blank = /(?:\s|[#;][^\n]*)*/y
const header = /\[([A-Za-z0-9.-]+)(?:[ \t]+"((?:[^"\\\n]|\\[^\n])*)")?\]/y
/** Matches a name and the `=` or the end of the line that follows it. */
const variable = /([A-Za-z][A-Za-z0-9-]*)[ \t]*(?:(=)|(?=[\n#;])|$)/y

function sectionOf([, name = "", quoted]: RegExpExecArray) {
  const lower = name.toLowerCase()
  if (quoted !== undefined) return { section: lower, subsection: quoted.replace(/\\(.)/g, "$1") }
  const dot = lower.indexOf(".")
  // The old syntax `[branch.main]`, whose subsection ignores case.
  return dot < 0
    ? { section: lower, subsection: null }
    : { section: lower.slice(0, dot), subsection: lower.slice(dot + 1) }
}

interface ReadValue {
  readonly text: string
  readonly end: number
}

/**
 * Reads a value up to the end of the line, which a backslash continues. Returns null for a value that git rejects.
 */
function readValue(lines: string, start: number): ReadValue | null {
  let text = ""
  // The length of the text that stays even if only space follows.
  let kept = 0
  let isQuoted = false
  for (let at = start; ; at++) {
    const character = lines[at]
    if (character === undefined || character === "\n")
      return isQuoted ? null : { text: text.slice(0, kept), end: at }
    if (character === '"') {
      isQuoted = !isQuoted
      kept = text.length
    } else if (character === "\\") {
      const next = lines[++at]
      const meant = next === undefined ? undefined : escapes[next]
      if (meant === undefined) return null
      text += meant
      kept = text.length
    } else if (!isQuoted && (character === "#" || character === ";")) {
      const end = lines.indexOf("\n", at)
      return { text: text.slice(0, kept), end: end < 0 ? lines.length : end }
    } else if (!isQuoted && /\s/.test(character)) {
      if (text !== "") text += character
    } else {
      text += character
      kept = text.length
    }
  }
}

const escapes: Readonly<Record<string, string>> = {
  n: "\n",
  t: "\t",
  b: "\b",
  "\\": "\\",
  '"': '"',
  // The value continues in the next line.
  "\n": "",
}
