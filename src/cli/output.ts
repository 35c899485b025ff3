import { write, writeSync } from "node:fs"
import { errnoOf, messageOf } from "../base/assert.ts"
import { printable, shellQuoted, visibleJson } from "../base/text.ts"
import { Failure, type FailureReport } from "../domain/failure.ts"

export interface OutputStyle {
  readonly color: boolean
  readonly quiet: boolean
  readonly json: boolean
  /** The value of `-C`. */
  readonly workspace?: string
  /** True with `--allow-broad-workspace`. */
  readonly isBroad?: boolean
}

/** Colours text for a terminal; returns it unchanged elsewhere. */
export interface Paint {
  dim(text: string): string
  red(text: string): string
  green(text: string): string
}

/**
 * Writes everything that the program prints. With `--json` stdout carries JSON and nothing else. Text cannot control
 * the terminal: only the colours added by this class reach it as control sequences.
 */
export class Output implements Paint {
  private hasLiveLine = false

  constructor(private readonly style: OutputStyle) {}

  /** Prints a line of the answer. */
  line(text = ""): void {
    if (!this.style.json) this.put(1, `${text}\n`)
  }

  /** Prints what the user agrees to with this command; to stderr when the answer is JSON. */
  shown(lines: readonly string[]): void {
    this.put(this.style.json ? 2 : 1, lines.map(line => `${line}\n`).join(""))
  }

  json(value: unknown): void {
    this.putBytes(1, Buffer.from(`${visibleJson(value, 2)}\n`))
  }

  /** Prints one object of a stream of objects, at once and on one line. */
  jsonLine(value: unknown): void {
    this.putBytes(1, Buffer.from(`${visibleJson(value)}\n`))
  }

  /**
   * Prints a question to the person at the terminal: to stderr, so that stdout may be piped, and also with `--quiet`.
   */
  question(text: string): void {
    this.put(2, text)
  }

  /** Prints a message that is not part of the answer. */
  notice(text: string): void {
    if (!this.style.quiet) this.put(2, `${this.dim(this.advice(text))}\n`)
  }

  /** Shows the last line of a terminal, which is erased before anything else is printed; null removes it. */
  live(text: string | null): void {
    if (text === null && !this.hasLiveLine) return
    this.put(2, text === null ? "" : this.dim(text))
    this.hasLiveLine = text !== null
  }

  failure(report: FailureReport): void {
    try {
      if (this.style.json) this.json({ error: report })
    } finally {
      // Printed also when writing to standard output failed.
      this.afterthought(report)
    }
  }

  /** Prints a failure after the answer to stderr: stdout already has its one document. */
  afterthought(report: FailureReport): void {
    const where = report.where === undefined ? "" : `  at ${report.where}\n`
    const hint = report.hint === undefined ? "" : `  → ${this.advice(report.hint)}\n`
    this.put(2, `${this.red("error")} ${report.code}: ${report.message}\n${where}${hint}`)
  }

  /** Repeats the workspace flags in the commands of a text, so that they work on the same workspace. */
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

  /** Prints recorded bytes: exact when piped, without control sequences on a terminal. */
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

/** Marks the beginning of a colour until the text is printed; random, so that no text can contain it. */
const styleMark = `<style ${crypto.randomUUID()}>`

/** Matches the start of a command in backticks or in a list after `next`. */
const commandStart = /(`|^ *next:? +| {2}· {2})acode (?=[a-z])/gm

/** Moves to the beginning of the line and erases it. */
const eraseLine = Buffer.from("\r\u001b[2K")

/** Thrown when the reader of our output has closed it, which is not an error: `acode runs list | head -1`. */
export class OutputClosed extends Error {}

/** Thrown when our output cannot be written for any other reason, such as a full disk behind `> file`. */
export class OutputLost extends Failure {
  constructor(fd: 1 | 2, error: unknown) {
    super(
      {
        kind: "general",
        code: "ACODE-CLI-007",
        message: `the output cannot be written: ${messageOf(error)}`,
        where: fd === 1 ? "standard output" : "standard error",
        hint: "check the target of the output: is the disk full, is the file writable?",
      },
      { cause: error },
    )
  }
}

/** Writes a chunk without blocking the event loop, so that deadlines fire while a slow reader delays us. */
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
      // The pipe is full and another process made it non-blocking; the reader decides how long this takes.
      Bun.sleepSync(1)
    }
  }
}
