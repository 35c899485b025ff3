import { readFileSync } from "node:fs"
import { seeded } from "../../workspace/support.ts"

/** A text with what must not come out of a redaction; a benign one has nothing of that kind. */
export interface LabelledText {
  readonly label: string
  readonly text: string
  /** The places of the secrets, in order. */
  readonly secrets: readonly { readonly start: number; readonly end: number }[]
}

const folder = new URL("../../scenarios/redaction/", import.meta.url)

const digits = "0123456789"
const lower = "abcdefghijklmnopqrstuvwxyz"
const upper = lower.toUpperCase()
const alphabets: Readonly<Record<string, string>> = {
  alnum: digits + lower + upper,
  b64: `${digits}${lower}${upper}+/`,
  b64url: `${digits}${lower}${upper}-_`,
  base32: `${upper}234567`,
  bech32: "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L",
  digits,
  hex: `${digits}abcdef`,
  letters: lower + upper,
  lower: digits + lower,
  upper: digits + upper,
  upperhex: `${digits}ABCDEF`,
}

/** The labelled texts of a file with random characters in the place of its macros; the same seed gives the same. */
export function labelledTexts(
  file: "labelled-secrets.txt" | "labelled-services.txt" | "labelled-benign.txt",
  seed: number,
): LabelledText[] {
  const random = seeded(seed)
  return readFileSync(new URL(file, folder), "utf8")
    .split("\n")
    .map((line, index) => ({ line, number: index + 1 }))
    .filter(({ line }) => line !== "" && !line.startsWith("#"))
    .map(({ line, number }) => {
      const bar = line.indexOf(" | ")
      return {
        label: `${file}:${number} ${line.slice(0, bar)}`,
        ...marked(filled(line.slice(bar + 3), random)),
      }
    })
}

function filled(template: string, random: (below: number) => number): string {
  return template.replaceAll("‹nl›", "\n").replace(/‹(\w+) (\d+)›/g, (_, name: string, count: string) => {
    const alphabet = alphabets[name]
    if (alphabet === undefined) throw new Error(`no alphabet is called ${name}`)
    return wellMixed(() => alphabet[random(alphabet.length)] ?? "", Number(count))
  })
}

/** Real tokens of ten characters and more have a digit; one in five random ones of that length has none. */
function wellMixed(draw: () => string, count: number): string {
  for (let tries = 0; ; tries++) {
    const text = Array.from({ length: count }, draw).join("")
    if (count < 8 || tries > 40 || /\d/.test(text)) return text
  }
}

function marked(text: string): Pick<LabelledText, "text" | "secrets"> {
  const secrets: { start: number; end: number }[] = []
  let plain = ""
  for (const [index, part] of text.split(/[«»]/).entries()) {
    if (index % 2 === 1) secrets.push({ start: plain.length, end: plain.length + part.length })
    plain += part
  }
  return { text: plain, secrets }
}

const windowLength = 8

/**
 * True when eight characters in a row of a secret, or all of a shorter one, are still in the output. What the text has
 * outside its secrets too, as the name of a service, does not count.
 */
export function isLeaked(labelled: LabelledText, output: string): boolean {
  const kept = keptParts(labelled)
  return labelled.secrets.some(({ start, end }) =>
    windowsOf(labelled.text.slice(start, end)).some(
      window => output.includes(window) && !kept.some(part => part.includes(window)),
    ),
  )
}

function windowsOf(secret: string): string[] {
  return secret.split("\n").flatMap(line => {
    const length = Math.min(windowLength, line.length)
    if (length === 0 || line.startsWith("-----")) return []
    return Array.from({ length: line.length - length + 1 }, (_, at) => line.slice(at, at + length))
  })
}

/** The text with what was marked taken out: what has to be kept, in order. */
export function keptParts({ text, secrets }: LabelledText): string[] {
  const edges = [0, ...secrets.flatMap(({ start, end }) => [start, end]), text.length]
  return edges.flatMap((edge, index) => (index % 2 === 0 ? [text.slice(edge, edges[index + 1])] : []))
}
