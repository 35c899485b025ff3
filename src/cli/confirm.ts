import { Keyboard } from "./keyboard.ts"
import type { Output } from "./output.ts"

/** Asks the person at the terminal a question that is answered with yes or no. Anything but `y` is no. */
export async function confirm(output: Output, lines: readonly string[], question: string): Promise<boolean> {
  using keyboard = new Keyboard(new AbortController().signal)
  output.question(`${lines.map(line => `${line}\n`).join("")}${question} [y/N] `)
  const key = await keyboard.key()
  const isYes = key?.kind === "character" && key.text.toLowerCase() === "y"
  output.question(isYes ? "yes\n" : "no\n")
  return isYes
}
