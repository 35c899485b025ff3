import { write, writeSync } from "node:fs"
import { errnoOf, messageOf } from "../base/assert.ts"
import { printable, shellQuoted, visibleJson } from "../base/text.ts"
import { Failure, type FailureReport } from "../domain/failure.ts"

export interface OutputStyle {
  readonly color: boolean
  readonly quiet: boolean
  readonly json: boolean
  /** What `-C` says. */
  readonly workspace?: string
  /** Whether `--allow-broad-workspace` was given. */
  readonly isBroad?: boolean
}

/** Colours where a terminal shows them, and nothing elsewhere. */
export interface Paint {
  dim(text: string): string
  red(text: string): string
  green(text: string): string
}

/**
 * The only way text leaves the program. With `--json` stdout carries JSON and nothing else. Whatever a text holds, a
 * terminal acts on nothing in it but the colours that were put there by this class.
 */
export class Output implements Paint {
  private hasLiveLine = false

  constructor(private readonly style: OutputStyle) {}

  /** A line of the answer. */
  line(text = ""): void {
    if (!this.style.json) this.put(1, `${text}\n`)
  }

  /** What somebody agrees to by what they typed: beside the answer where that is JSON. */
  shown(lines: readonly string[]): void {
    this.put(this.style.json ? 2 : 1, lines.map(line => `${line}\n`).join(""))
  }

  json(value: unknown): void {
    this.putBytes(1, Buffer.from(`${visibleJson(value, 2)}\n`))
  }

  /** One object of a stream of them, there at once and on one line. */
  jsonLine(value: unknown): void {
    this.putBytes(1, Buffer.from(`${visibleJson(value)}\n`))
  }

  /** A question to the person at the terminal. Beside the answer, so that it may be piped, and never silenced. */
  question(text: string): void {
    this.put(2, text)
  }

  /** Something worth knowing that is not the answer. */
  notice(text: string): void {
    if (!this.style.quiet) this.put(2, `${this.dim(this.advice(text))}\n`)
  }

  /** The last line of a terminal, gone before anything else is written; null takes it away. */
  live(text: string | null): void {
    if (text === null && !this.hasLiveLine) return
    this.put(2, text === null ? "" : this.dim(text))
    this.hasLiveLine = text !== null
  }

  failure(report: FailureReport): void {
    try {
      if (this.style.json) this.json({ error: report })
    } finally {
      // Also when standard output is what failed: somebody has to be told.
      this.afterthought(report)
    }
  }

  /** A failure behind an answer that was printed: standard output has one document and keeps it. */
  afterthought(report: FailureReport): void {
    const where = report.where === undefined ? "" : `  at ${report.where}\n`
    const hint = report.hint === undefined ? "" : `  → ${this.advice(report.hint)}\n`
    this.put(2, `${this.red("error")} ${report.code}: ${report.message}\n${where}${hint}`)
  }

  /** Whoever named a workspace has to name it again: without that, what is told would be done in another one. */
  advice(text: string): string {
    const { workspace, isBroad } = this.style
    const named = workspace === undefined ? "" : `-C ${shellQuoted(workspace)} `
    const allowed = isBroad === true ? "--allow-broad-workspace " : ""
    return text.replace(commandStart, (_, before) => `${before}acode ${named}${allowed}`)
  }

  dim(text: string): string {
    return this.styled("2m", text)
  }

  red(text: string): string {
    return this.styled("31m", text)
  }

  green(text: string): string {
    return this.styled("32m", text)
  }

  private styled(code: string, text: string): string {
    return this.style.color ? `${styleMark}${code}${text}${styleMark}0m` : text
  }

  /** Recorded bytes: exact when piped, harmless when a terminal would act on them. */
  recorded(content: Uint8Array | string, isTerminal: boolean, fd: 1 | 2 = 1): void {
    const bytes = typeof content === "string" ? Buffer.from(content) : content
    if (isTerminal) this.put(fd, new TextDecoder().decode(bytes))
    else this.putBytes(fd, bytes)
  }

  private put(fd: 1 | 2, text: string): void {
    this.putBytes(fd, Buffer.from(printable(text).replaceAll(styleMark, "\u001b[")))
  }

  private putBytes(fd: 1 | 2, bytes: Uint8Array): void {
    if (this.hasLiveLine) writeWhole(2, eraseLine)
    this.hasLiveLine = false
    writeWhole(fd, bytes)
  }
}

/** Stands for the beginning of a colour until the text is written; nobody else can know it. */
const styleMark = `<style ${crypto.randomUUID()}>`

/** A command in backticks, and each that is listed behind `next`. */
const commandStart = /(`|^ *next:? +| {2}· {2})acode (?=[a-z])/gm

/** To its beginning, and away with all of it. */
const eraseLine = Buffer.from("\r\u001b[2K")

/** Raised when the reader of our output went away, which is no error: `acode runs list | head -1`. */
export class OutputClosed extends Error {}

/** Raised when our output cannot be written for any other reason, such as a full disk behind `> file`. */
export class OutputLost extends Failure {
  constructor(fd: 1 | 2, error: unknown) {
    super(
      {
        kind: "general",
        code: "ACODE-CLI-007",
        message: `the output cannot be written: ${messageOf(error)}`,
        where: fd === 1 ? "standard output" : "standard error",
        hint: "look at where it is sent to: is the disk full, may it be written?",
      },
      { cause: error },
    )
  }
}

/** Passes a chunk on without blocking the event loop, so that deadlines fire while a slow reader holds us back. */
export async function writeChunk(fd: 1 | 2, chunk: Uint8Array): Promise<void> {
  for (let offset = 0; offset < chunk.length; ) {
    const { promise, resolve, reject } = Promise.withResolvers<number>()
    write(fd, chunk, offset, chunk.length - offset, null, (error, written) => {
      if (error === null) resolve(written)
      else if (errnoOf(error) === "EAGAIN") setTimeout(resolve, 1, 0)
      else reject(errnoOf(error) === "EPIPE" ? new OutputClosed() : new OutputLost(fd, error))
    })
    offset += await promise
  }
}

function writeWhole(fd: 1 | 2, bytes: Uint8Array): void {
  for (let offset = 0; offset < bytes.length; ) {
    try {
      offset += writeSync(fd, bytes, offset)
    } catch (error) {
      const code = errnoOf(error)
      if (code === "EPIPE") throw new OutputClosed()
      if (code !== "EAGAIN") throw new OutputLost(fd, error)
      // The pipe is full and was made non-blocking by somebody else; the reader decides how long this takes.
      Bun.sleepSync(1)
    }
  }
}
