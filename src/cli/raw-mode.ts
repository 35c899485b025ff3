import type { ReadStream } from "node:tty"

const endingSignals = ["SIGINT", "SIGTERM", "SIGHUP"] as const

/**
 * Keys without Enter, for as long as somebody is asked. A shell whose terminal was left in raw mode shows nothing of
 * what is typed, so it is left on every way out: disposed of, ended by a signal, or in the middle of a bug.
 */
export class RawMode implements Disposable {
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
