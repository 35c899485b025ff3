import type { ReadStream } from "node:tty"
import { oneLine } from "../../base/text.ts"
import type { Output } from "../output.ts"
import { discardTypedAhead } from "./terminal.ts"

/** Reads keys from standard input, until it is disposed of or the signal ends the question. */
export class Keyboard implements Disposable {
  private readonly raw = RawMode.ofStandardInput()
  private readonly reader = new KeyReader()
  private readonly decoder = new TextDecoder()
  private readonly keys: Key[] = []
  private arrived: Uint8Array[] = []
  private text = ""
  private isClosed: boolean
  private wake: () => void = () => undefined

  constructor(private readonly dismissed: AbortSignal) {
    this.isClosed = dismissed.aborted
    const { stdin } = process
    // Keys typed before the question was shown do not answer it.
    if (this.raw.isPossible) discardTypedAhead()
    while (this.raw.isPossible && stdin.read() !== null);
    this.raw.enter()
    dismissed.addEventListener("abort", this.close)
    stdin.on("data", this.hear)
    stdin.on("end", this.close)
    // A file has neither `ref` nor `unref`.
    if ("ref" in stdin) stdin.ref()
    stdin.resume()
  }

  /** Returns the next key; without raw mode, a line of one character. Null when the question has ended. */
  async key(): Promise<Key | null> {
    if (!this.raw.isPossible) return lineKey(await this.line())
    for (;;) {
      if (this.isClosed) return null
      for (const chunk of this.taken()) this.keys.push(...this.reader.push(chunk))
      const key = this.keys.shift()
      if (key !== undefined) return key
      await this.change()
    }
  }

  /** Returns a whole line, edited by the terminal. Null when the question has ended. */
  async line(): Promise<string | null> {
    this.raw.leave()
    try {
      for (;;) {
        for (const chunk of this.taken()) this.text += this.decoder.decode(chunk, { stream: true })
        const end = this.text.indexOf("\n")
        if (end !== -1) return this.takeText(end)
        if (this.isClosed) return null
        await this.change()
      }
    } finally {
      if (!this.isClosed) this.raw.enter()
    }
  }

  [Symbol.dispose](): void {
    const { stdin } = process
    this.raw[Symbol.dispose]()
    this.dismissed.removeEventListener("abort", this.close)
    stdin.off("data", this.hear)
    stdin.off("end", this.close)
    stdin.pause()
    // The program must not wait for another key before it exits.
    if ("unref" in stdin) stdin.unref()
  }

  private readonly hear = (chunk: Uint8Array): void => {
    this.arrived.push(chunk)
    this.wake()
  }

  private readonly close = (): void => {
    this.isClosed = true
    this.wake()
  }

  private change(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    this.wake = resolve
    return promise
  }

  private taken(): Uint8Array[] {
    const taken = this.arrived
    this.arrived = []
    return taken
  }

  private takeText(end: number): string {
    const line = this.text.slice(0, end)
    this.text = this.text.slice(end + 1)
    return line
  }
}

function lineKey(line: string | null): Key | null {
  if (line === null) return null
  const [first, ...others] = line.trim()
  return first === undefined || others.length > 0 ? { kind: "other" } : { kind: "character", text: first }
}

/**
 * Asks a yes-or-no question at the terminal. Anything but `y` means no. The lines may contain file names, so control
 * characters in them are escaped.
 */
export async function confirm(output: Output, lines: readonly string[], question: string): Promise<boolean> {
  using keyboard = new Keyboard(new AbortController().signal)
  output.question(`${lines.map(line => `${oneLine(line, lineLengthMax)}\n`).join("")}${question} [y/N] `)
  const key = await keyboard.key()
  const isYes = key?.kind === "character" && key.text.toLowerCase() === "y"
  output.question(isYes ? "yes\n" : "no\n")
  return isYes
}

/** The longest line: a path of 4,096 bytes, each escaped as four characters, fits. */
const lineLengthMax = 20_000

/** One key press. */
export type Key =
  | { readonly kind: "character"; readonly text: string }
  /** Ctrl-C or Ctrl-D. */
  | { readonly kind: "interrupt" }
  /** An arrow, a function key, or several characters at once, such as a paste. Never an answer. */
  | { readonly kind: "other" }

/**
 * Converts the bytes that a terminal in raw mode sends to keys. An escape sequence is consumed whole, also when it
 * arrives in pieces: the arrow up ends with the letter A and must not be treated as one.
 */
export class KeyReader {
  private readonly decoder = new TextDecoder()
  private state: "plain" | "escape" | "control" | "function" | "string" = "plain"

  push(bytes: Uint8Array): readonly Key[] {
    const characters: string[] = []
    let sawOther = false
    for (const character of this.decoder.decode(bytes, { stream: true })) {
      if (character === "\u0003" || character === "\u0004") return this.interrupted()
      if (this.isPlain(character)) characters.push(character)
      else sawOther = true
    }
    const [only] = characters
    if (only === undefined) return sawOther && this.state === "plain" ? [{ kind: "other" }] : []
    if (characters.length > 1 || sawOther) return [{ kind: "other" }]
    return [{ kind: "character", text: only }]
  }

  private interrupted(): readonly Key[] {
    this.state = "plain"
    return [{ kind: "interrupt" }]
  }

  /** Returns false for a part of a sequence. */
  private isPlain(character: string): boolean {
    const { state } = this
    if (character === "\u001b") this.state = state === "string" ? "function" : "escape"
    else if (state === "plain") return true
    else if (state === "escape") this.state = openedBy(character)
    else if (state === "function") this.state = "plain"
    else if (state === "control" && character >= "@" && character <= "~") this.state = "plain"
    else if (state === "string" && character === "\u0007") this.state = "plain"
    return false
  }
}

function openedBy(character: string): "plain" | "control" | "function" | "string" {
  if (character === "[") return "control"
  if (character === "O" || character === "N") return "function"
  // Answers of the terminal to queries of other programs. They end with a bell, or with escape and a backslash.
  return "P]X^_".includes(character) ? "string" : "plain"
}

const endingSignals = ["SIGINT", "SIGTERM", "SIGHUP"] as const

/**
 * Switches the terminal to raw mode while a question is open, so that keys need no Enter. A shell in a terminal that
 * stayed in raw mode does not echo what is typed, so raw mode ends on disposal, on a signal, and after an error.
 */
class RawMode implements Disposable {
  private isRaw = false
  private readonly leaveOnExit = () => this.leave()
  private readonly listeners = endingSignals.map(name => ({ name, listener: () => this.endBy(name) }))

  private constructor(private readonly terminal: ReadStream | null) {
    if (terminal === null) return
    process.on("exit", this.leaveOnExit)
    for (const { name, listener } of this.listeners) process.on(name, listener)
  }

  /** Enters raw mode on standard input. Does nothing when that is not a terminal, and then keys need Enter. */
  static ofStandardInput(): RawMode {
    const { stdin } = process
    return new RawMode(stdin.isTTY ? stdin : null)
  }

  get isPossible(): boolean {
    return this.terminal !== null
  }

  enter(): void {
    this.terminal?.setRawMode(true)
    this.isRaw = true
  }

  leave(): void {
    if (this.isRaw) this.terminal?.setRawMode(false)
    this.isRaw = false
  }

  [Symbol.dispose](): void {
    this.leave()
    process.off("exit", this.leaveOnExit)
    for (const { name, listener } of this.listeners) process.off(name, listener)
  }

  /** Restores the terminal on a signal. Without another listener it raises the signal again, which ends the program. */
  private endBy(name: NodeJS.Signals): void {
    this.leave()
    if (process.listenerCount(name) > 1) return
    this[Symbol.dispose]()
    process.kill(process.pid, name)
  }
}
