import { oneLine } from "../base/text.ts"
import { Keyboard } from "./keyboard.ts"
import type { Output } from "./output.ts"

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
