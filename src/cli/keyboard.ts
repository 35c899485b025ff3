import { type Key, KeyReader } from "./key-reader.ts"
import { RawMode } from "./raw-mode.ts"
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
