import type { ReadStream } from "node:tty"
import { oneLine } from "../../base/text.ts"
import type { Output } from "../output.ts"
import { discardTypedAhead } from "./terminal.ts"

/** The keys of the person at standard input, until it is disposed of or the signal ends the question. */
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
    // What was typed before the question could be read is no answer to it.
    if (this.raw.isPossible) discardTypedAhead()
    while (this.raw.isPossible && stdin.read() !== null);
    this.raw.enter()
    dismissed.addEventListener("abort", this.close)
    stdin.on("data", this.hear)
    stdin.on("end", this.close)
    // A file is read to its end and knows neither.
    if ("ref" in stdin) stdin.ref()
    stdin.resume()
  }

  /** The next key; without raw mode a line of one character is one. Null when nobody is asked any more. */
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

  /** A whole line, edited as the terminal does it. Null as above. */
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
    // Nobody listens any more; the program need not wait for the next key to end.
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
 * Asks the person at the terminal a question that is answered with yes or no. Anything but `y` is no. Names
 * of files in it are foreign text: each line stays one.
 */
export async function confirm(output: Output, lines: readonly string[], question: string): Promise<boolean> {
  using keyboard = new Keyboard(new AbortController().signal)
  output.question(`${lines.map(line => `${oneLine(line, lineLengthMax)}\n`).join("")}${question} [y/N] `)
  const key = await keyboard.key()
  const isYes = key?.kind === "character" && key.text.toLowerCase() === "y"
  output.question(isYes ? "yes\n" : "no\n")
  return isYes
}

/** A path has at most 4,096 bytes, each of them shown in four characters at most. */
const lineLengthMax = 20_000

/** What a person did at the keyboard, as far as one key can say it. */
export type Key =
  | { readonly kind: "character"; readonly text: string }
  /** Ctrl-C or Ctrl-D. */
  | { readonly kind: "interrupt" }
  /** An arrow, a function key, or several characters at once: a paste, or a cat. Never an answer. */
  | { readonly kind: "other" }

/**
 * Makes keys of the bytes a terminal in raw mode sends. A sequence is swallowed whole, also when it comes in pieces:
 * the arrow up ends in the letter A and must not be taken for it.
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

  /** False for a part of a sequence. */
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
  // Answers of the terminal to questions somebody else asked it. They end with a bell or with escape and a backslash.
  return "P]X^_".includes(character) ? "string" : "plain"
}

const endingSignals = ["SIGINT", "SIGTERM", "SIGHUP"] as const

/**
 * Keys without Enter, for as long as somebody is asked. A shell whose terminal was left in raw mode shows nothing of
 * what is typed, so it is left on every way out: disposed of, ended by a signal, or in the middle of a bug.
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

  /** Of standard input; where that is no terminal nothing changes, and keys need Enter. */
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

  /** Who else listens ends the program in its own time; if nobody does, it is ended as it would have been. */
  private endBy(name: NodeJS.Signals): void {
    this.leave()
    if (process.listenerCount(name) > 1) return
    this[Symbol.dispose]()
    process.kill(process.pid, name)
  }
}
