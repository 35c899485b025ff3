/** Makes the output of a program safe for a terminal, chunk by chunk; `end` returns the bytes that were held back. */
export interface TerminalFilter {
  push(chunk: Uint8Array): Uint8Array
  end(): Uint8Array
}

/** Passes output unchanged, for a file or a program. */
export const unchanged: TerminalFilter = { push: chunk => chunk, end: () => new Uint8Array(0) }

/**
 * Returns a filter that passes text, colours and cursor movements, and removes every other sequence: clipboard access,
 * titles, links, images, and queries whose answer the terminal would type at the next prompt. Recognises sequences in
 * 7-bit, 8-bit and UTF-8 form; one without an end is over at the end of its line.
 */
export function terminalFilter(): TerminalFilter {
  const filter = new Filter()
  return {
    push: chunk => filter.push(chunk),
    end: () => filter.end(),
  }
}

type State = "ground" | "character" | "escape" | "designation" | "control" | "string" | "stringEscape"

class Filter {
  private state: State = "ground"
  /** The bytes of an incomplete character or sequence that may still be passed. */
  private held: number[] = []
  private heldMax = 0
  private out: Uint8Array = new Uint8Array(0)
  private length = 0
  private readonly steps: Readonly<Record<State, (byte: number) => void>> = {
    ground: byte => this.ground(byte),
    character: byte => this.character(byte),
    escape: byte => this.escape(byte),
    designation: byte => this.designation(byte),
    control: byte => this.control(byte),
    string: byte => this.string(byte),
    stringEscape: byte => {
      this.state = "ground"
      if (byte !== backslash) this.escape(byte)
    },
  }

  push(chunk: Uint8Array): Uint8Array {
    // A byte of an 8-bit sequence becomes two, and held bytes are added.
    this.out = new Uint8Array(2 * (chunk.length + this.held.length))
    this.length = 0
    for (const byte of chunk) this.take(byte)
    return this.out.subarray(0, this.length)
  }

  end(): Uint8Array {
    this.out = new Uint8Array(this.held.length)
    this.length = 0
    if (this.state === "character") this.release()
    this.state = "ground"
    this.held = []
    return this.out.subarray(0, this.length)
  }

  private take(byte: number): void {
    this.steps[this.state](byte)
  }

  private ground(byte: number): void {
    if (byte === escapeByte) this.begin("escape", byte)
    else if (byte < 0x80) this.plain(byte)
    else if (byte >= 0xc2 && byte <= 0xf4) {
      this.begin("character", byte)
      this.heldMax = byte < 0xe0 ? 2 : byte < 0xf0 ? 3 : 4
    } else this.lone(byte)
  }

  private plain(byte: number): void {
    if ((byte >= 0x20 && byte !== 0x7f) || passedControls.has(byte)) this.put(byte)
  }

  /** Handles a byte that is not part of a UTF-8 character: as an 8-bit control it may begin a sequence. */
  private lone(byte: number): void {
    if (byte >= 0xa0) this.put(byte)
    else this.eightBit(byte)
  }

  private eightBit(code: number): void {
    this.held = []
    if (code === 0x9b) this.begin("control", escapeByte, bracket)
    else this.state = stringStarts.has(code - 0x40) ? "string" : "ground"
  }

  private character(byte: number): void {
    if (byte < 0x80 || byte > 0xbf) {
      this.release()
      this.take(byte)
    } else {
      this.held.push(byte)
      if (this.held.length === this.heldMax) this.whole(this.held)
    }
  }

  private whole([first = 0, second = 0, ...more]: readonly number[]): void {
    this.reset()
    if (first === 0xc2 && second < 0xa0) this.eightBit(second)
    else for (const each of [first, second, ...more]) this.put(each)
  }

  private escape(byte: number): void {
    if (byte === bracket) this.begin("control", escapeByte, byte)
    else if (stringStarts.has(byte)) this.begin("string")
    else if (byte === parenthesis) this.begin("designation", escapeByte, byte)
    else if (byte < 0x20 || byte >= 0x7f) this.abandon(byte)
    else if (byte < 0x30) this.begin("designation", 0)
    else this.finish(byte, passedEscapes.has(byte))
  }

  private designation(byte: number): void {
    if (byte >= 0x20 && byte < 0x30) this.begin("designation", 0)
    else if (byte < 0x20 || byte >= 0x7f) this.abandon(byte)
    else this.finish(byte, byte === letterB)
  }

  private control(byte: number): void {
    if (byte < 0x20 || byte > 0x7e || this.held.length >= sequenceMax) this.abandon(byte)
    else if (byte >= 0x40) this.finish(byte, isPassed(this.held.slice(2), byte))
    else this.held.push(byte)
  }

  private string(byte: number): void {
    const isEightBitEnd = byte === 0x9c && this.held[0] === 0xc2
    if (byte === escapeByte) this.begin("stringEscape")
    else if (stringEnds.has(byte) || isEightBitEnd) this.reset()
    else this.held = [byte]
    if (byte === lineFeed) this.put(byte)
  }

  private finish(byte: number, isFine: boolean): void {
    if (isFine && this.held[0] === escapeByte) for (const each of [...this.held, byte]) this.put(each)
    this.reset()
  }

  /** Drops a sequence that another byte interrupts. */
  private abandon(byte: number): void {
    this.reset()
    this.take(byte)
  }

  /** Handles the bytes of an invalid character one by one. */
  private release(): void {
    const bytes = this.held
    this.reset()
    for (const byte of bytes) if (byte >= 0xa0) this.put(byte)
  }

  private begin(state: State, ...bytes: readonly number[]): void {
    this.state = state
    this.held = [...bytes]
  }

  private reset(): void {
    this.begin("ground")
  }

  private put(byte: number): void {
    this.out[this.length++] = byte
  }
}

/** Returns whether a control sequence styles text, moves the cursor, or erases the screen. */
function isPassed(parameters: readonly number[], final: number): boolean {
  const text = String.fromCharCode(...parameters)
  const letter = String.fromCharCode(final)
  if (/^\?(?:25|7|2026)$/.test(text)) return letter === "h" || letter === "l"
  return /^[0-9;:]*$/.test(text) && passedFinals.includes(letter)
}

const passedFinals = "@ABCDEFGHIJKLMPSTXZ`adefmsu"
const escapeByte = 0x1b
const bracket = 0x5b
const parenthesis = 0x28
const letterB = 0x42
const backslash = 0x5c
const lineFeed = 0x0a
/** Bell, backspace, tab, line feed, vertical tab, form feed, return, and shift in, which resets the character set. */
const passedControls: ReadonlySet<number> = new Set([0x07, 0x08, 0x09, 0x0a, 0x0b, 0x0c, 0x0d, 0x0f])
/** Escapes that save and restore the cursor, or move it by a line. */
const passedEscapes: ReadonlySet<number> = new Set(Array.from("78DEM", letter => letter.charCodeAt(0)))
/** The starts of device control, string, system command, privacy message and application command. */
const stringStarts: ReadonlySet<number> = new Set(Array.from("PX]^_", letter => letter.charCodeAt(0)))
const stringEnds: ReadonlySet<number> = new Set([0x07, 0x18, 0x1a, lineFeed])
const sequenceMax = 64
