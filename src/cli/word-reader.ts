/** The words of a command line, taken from the front. */
export class WordReader {
  private index = 0
  constructor(private readonly words: readonly string[]) {}

  isDone(): boolean {
    return this.index >= this.words.length
  }

  peek(): string {
    return this.words[this.index] ?? ""
  }

  take(): string {
    const word = this.peek()
    this.index += 1
    return word
  }

  takeRest(): string[] {
    const rest = this.words.slice(this.index)
    this.index = this.words.length
    return rest
  }
}
