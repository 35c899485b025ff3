import { isUtf8 } from "node:buffer"
import { cpSync, lstatSync, mkdirSync, readdirSync, readFileSync } from "node:fs"
import { dirname, join } from "node:path"
import type { Random } from "../soak/random.ts"
import { repositoryRoot } from "../support/acode.ts"
import type { PlanStepText } from "../support/plan/plan-workspace.ts"
import { linesOf, type OracleDirectory, sha256Of } from "./oracle.ts"

const packages = join(repositoryRoot, "node_modules")

/** Files of several megabytes, and some that a hand has written in many years. */
const always = ["typescript/lib/typescript.js", "typescript/lib/_tsc.js", "typescript/lib/lib.dom.d.ts"]

/** Sources that `npm ci` brought, copied below a directory. Gives their paths, relative to it. */
export function copyRealFiles(root: string, count: number, random: Random): string[] {
  const all = sources(packages, "").filter(path => !always.includes(path))
  const chosen = new Set(always)
  while (chosen.size < Math.min(count, all.length)) chosen.add(random.oneOf(all))
  for (const path of chosen) {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    cpSync(join(packages, path), join(root, path))
  }
  return [...chosen].sort()
}

/** Regular files that look like somebody's work, and that no rule of acode protects. */
function sources(directory: string, prefix: string): string[] {
  return readdirSync(directory, { withFileTypes: true })
    .filter(({ name }) => !name.startsWith("."))
    .flatMap(entry => {
      const path = prefix + entry.name
      if (entry.isDirectory()) return sources(join(directory, entry.name), `${path}/`)
      const isSource = /\.(?:[cm]?[jt]sx?|json|md|txt|css|ya?ml)$/i.test(path)
      const isOpen =
        !/secret|private|credential|token|\.(?:key|pem)$/i.test(path) &&
        !/(?:CLAUDE|AGENTS|GEMINI)\.md$/.test(path)
      return entry.isFile() && isSource && isOpen ? [path] : []
    })
}

/** A plan has five megabytes at most, with all that its steps write. */
const writtenLengthMax = 200_000

/** One step of a plan, and what is to be true of its result. */
export interface RealStep {
  readonly step: PlanStepText
  /** Gives what is wrong with the result of the step, or null. */
  readonly check: (result: Readonly<Record<string, unknown>>) => string | null
}

/** The files as they have to be: every step that is made changes them here too, with nothing but strings. */
export class RealTree {
  private readonly texts = new Map<string, string>()
  private created = 0

  constructor(
    root: string,
    paths: readonly string[],
    private readonly oracle: OracleDirectory,
    private readonly random: Random,
  ) {
    for (const path of paths) {
      const bytes = readFileSync(join(root, path))
      if (!isUtf8(bytes) || bytes.includes(0)) continue
      this.texts.set(path, bytes.toString("utf8"))
    }
  }

  /** The bytes that each file is to have. */
  contents(): ReadonlyMap<string, string> {
    return this.texts
  }

  next(): RealStep {
    const large = always.filter(path => this.texts.has(path))
    const path = this.random.oneOf([...this.texts.keys(), ...large, ...large])
    const kind = this.random.whole(100)
    if (kind < 40) return this.edit(path)
    if (kind < 65) return this.patch(path)
    if (kind < 85) return this.read(path)
    if (kind < 93) return this.write(path)
    return kind < 97 ? this.create(path) : this.remove(path)
  }

  private edit(path: string): RealStep {
    const edits: { search: string; replace: string }[] = []
    let text = this.textOf(path)
    for (let count = 1 + this.random.whole(3); count > 0; count--) {
      const search = this.uniquePart(text)
      if (search === null) continue
      const replace = this.variant(search, endIn(search) ?? endIn(text) ?? "\n")
      text = text.replace(search, () => replace)
      edits.push({ search, replace })
    }
    if (edits.length === 0) return this.read(path)
    return this.changed(path, text, ["modify_file", { path, edits }])
  }

  private patch(path: string): RealStep {
    const before = this.textOf(path)
    const lines = linesOf(before)
    for (let count = 1 + this.random.whole(6); count > 0; count--) {
      const at = this.random.whole(lines.length)
      const line = lines[at]
      if (line === undefined) continue
      const end = endIn(line) ?? ""
      if (end === "") lines[at] = this.fresh()
      else
        lines[at] = this.random.oneOf([
          "",
          `${this.fresh()}${end}`,
          `${line}${this.fresh()}${end}`,
          `${line}${line}`,
        ])
    }
    const after = lines.join("")
    if (after === before) return this.read(path)
    return this.changed(path, after, ["modify_file", { path, patch: this.oracle.hunks(before, after) }])
  }

  private write(path: string): RealStep {
    const before = this.textOf(path)
    if (before.length > writtenLengthMax) return this.edit(path)
    const lines = linesOf(before)
    const [from, to] = [0, 1].map(() => this.random.whole(lines.length + 1)).sort((a, b) => a - b)
    const after = [...lines.slice(0, from), this.fresh(), "\n", ...lines.slice(to)]
      .join("")
      .replace(/^\ufeff/, "")
    // A mark at the beginning is kept, and nobody who reads the file is shown it.
    const kept = before.startsWith("\ufeff") ? `\ufeff${after}` : after
    return this.changed(path, kept, ["write_file", { path, content: after }])
  }

  private create(near: string): RealStep {
    const path = `${dirname(near)}/made ${++this.created}.txt`
    const content = `${this.fresh()}${this.random.oneOf(["", "\n", "\r\n", "\nmore\n"])}`
    return this.changed(path, content, ["create_file", { path, content }])
  }

  private remove(path: string): RealStep {
    this.texts.delete(path)
    return { step: ["delete_file", { paths: [path] }], check: () => null }
  }

  private changed(path: string, text: string, step: PlanStepText): RealStep {
    this.texts.set(path, text)
    return { step, check: () => null }
  }

  private read(path: string): RealStep {
    const text = this.textOf(path)
    const lines = linesOf(text.replace(/^\ufeff/, ""))
    const from = 1 + this.random.whole(Math.max(1, lines.length))
    const count = 1 + this.random.whole(200)
    const check = (result: Readonly<Record<string, unknown>>) => {
      const expected = lines.slice(from - 1, from - 1 + count)
      const shown = linesOf(String(result["content"]))
      const isRedacted = shown.some(line => line.includes("[REDACTED:"))
      if (result["sha256"] !== sha256Of(text)) return "the hash is another"
      if (result["total_lines"] !== lines.length)
        return `${String(result["total_lines"])} of ${lines.length} lines`
      const other = shown.findIndex((line, index) => line !== expected[index] && !line.includes("[REDACTED:"))
      // A key of many lines is shown as one, and what stands behind it moves up.
      if (isRedacted && shown.length !== expected.length) return null
      return other < 0 && shown.length === expected.length ? null : `line ${from + other} is another`
    }
    return { step: ["read_file", { path, from_line: from, line_count: count }], check }
  }

  /** A stretch of the text that occurs once: whole lines or parts of them. */
  private uniquePart(text: string): string | null {
    for (let tries = 0; tries < 20; tries++) {
      const start = this.random.whole(text.length)
      const part = text.slice(start, start + 12 + this.random.whole(300)).replace(/^\ufeff/, "")
      const isWhole = part.isWellFormed() && !part.startsWith("\n") && !part.endsWith("\r")
      if (part.length > 5 && isWhole && text.indexOf(part) === text.lastIndexOf(part)) return part
    }
    return null
  }

  private variant(part: string, end: string): string {
    const middle = part.length >> 1
    return this.random.oneOf([
      () => "",
      () => this.fresh(),
      () => part + this.fresh(),
      () => `${this.fresh()}${end}${part}`,
      () => `${part.slice(0, middle)}${this.fresh()}${part.slice(middle)}`,
    ])()
  }

  private fresh(): string {
    return `changed ${this.random.whole(1_000_000_000)} ${this.random.oneOf(["", "grün", "€", "\u{1f600}"])}`
  }

  private textOf(path: string): string {
    return this.texts.get(path) ?? ""
  }
}

function endIn(text: string): string | null {
  return /\r?\n/.exec(text)?.[0] ?? null
}

/** Hash and mode of everything below a directory, as other programs see it. */
export function manifestOf(root: string): ReadonlyMap<string, string> {
  const found = new Map<string, string>()
  const { stdout } = Bun.spawnSync(
    ["find", ".", "-path", "./.agent", "-prune", "-o", "-type", "f", "-exec", "sha256sum", "-z", "{}", "+"],
    { cwd: root },
  )
  for (const row of stdout
    .toString("utf8")
    .split("\0")
    .filter(each => each !== "")) {
    const path = row.slice(66)
    found.set(path, `${row.slice(0, 64)} ${(lstatSync(join(root, path)).mode & 0o7777).toString(8)}`)
  }
  return found
}
