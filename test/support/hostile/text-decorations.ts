import { createRedactor } from "../../../src/redaction/redactor.ts"
import { seeded } from "../../workspace/support.ts"
import { isLeaked, type LabelledText, labelledTexts } from "./labelled-texts.ts"

type Below = (count: number) => number

/** A way to write the same text that says nothing else, and the way back to read it again. */
export interface Decoration {
  readonly name: string
  write(labelled: LabelledText, below: Below): string
  read(written: string): string
}

const escapeCharacter = "\x1b"
const colours = ["[1m", "[0m", "[31m", "[38;5;208m", "[38;2;1;22;133m", "[m", "[K", "[0;32m", "(B"].map(
  code => escapeCharacter + code,
)
const sequences = new RegExp(
  `${escapeCharacter}(?:\\[[0-9;]*[A-Za-z]|\\(B|\\]8;[^\\x07${escapeCharacter}]*(?:\\x07|${escapeCharacter}\\\\))`,
  "g",
)
const withoutSequences = (text: string) => text.replace(sequences, "")
const asIs = (text: string) => text

function inserted(text: string, places: readonly number[], piece: () => string): string {
  const sorted = [...places].sort((a, b) => b - a)
  return sorted.reduce((result, at) => result.slice(0, at) + piece() + result.slice(at), text)
}

function edgesOf({ text, secrets }: LabelledText): number[] {
  return secrets.length === 0 ? [0, text.length] : secrets.flatMap(({ start, end }) => [start, end])
}

const link = (text: string) =>
  `${escapeCharacter}]8;;https://example.org/x${escapeCharacter}\\${text}${escapeCharacter}]8;;${escapeCharacter}\\`

/** Decorations of a terminal. */
const coloured: readonly Decoration[] = [
  {
    name: "colours around what is secret",
    write: (labelled, below) =>
      inserted(labelled.text, edgesOf(labelled), () => colours[below(colours.length)] ?? ""),
    read: withoutSequences,
  },
  {
    name: "colours anywhere",
    write: ({ text }, below) => {
      const places = Array.from({ length: 1 + below(6) }, () => below(text.length + 1))
      return inserted(text, places, () => colours[below(colours.length)] ?? "")
    },
    read: withoutSequences,
  },
  {
    name: "a colour behind every character",
    write: ({ text }, below) => [...text].map(one => one + (colours[below(colours.length)] ?? "")).join(""),
    read: withoutSequences,
  },
  {
    name: "links around what is secret",
    write: ({ text, secrets }) => {
      const [first] = secrets
      if (first === undefined || text.includes("\n")) return link(text)
      const { start, end } = first
      return text.slice(0, start) + link(text.slice(start, end)) + text.slice(end)
    },
    read: withoutSequences,
  },
  {
    name: "a link whose end is a bell",
    write: ({ text }, below) => {
      const at = below(text.length + 1)
      return `${text.slice(0, at)}${escapeCharacter}]8;id=1;file:///a/b\x07${text.slice(at)}`
    },
    read: withoutSequences,
  },
]

const jsonString = (text: string) => JSON.stringify(text).slice(1, -1)
const fromJson = (text: string): string => {
  const parsed: unknown = JSON.parse(`"${text.slice(text.indexOf(":") + 2, -2)}"`)
  return String(parsed)
}
const unicode = (character: string) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`

/** Decorations of a string of JSON, as programs write it. */
const inJson: readonly Decoration[] = [
  { name: "JSON", write: ({ text }) => `{"line":"${jsonString(text)}"}`, read: fromJson },
  {
    name: "JSON of PHP",
    write: ({ text }) => `{"line":"${jsonString(text).replaceAll("/", "\\/")}"}`,
    read: fromJson,
  },
  {
    name: "JSON of Go",
    write: ({ text }) => `{"line":"${jsonString(text).replace(/[<>&]/g, unicode)}"}`,
    read: fromJson,
  },
  {
    name: "JSON for a page",
    write: ({ text }) =>
      `{"line":"${jsonString(text)
        .replaceAll('\\"', "\\u0022")
        .replace(/[<>&'=+`/]/g, unicode)}"}`,
    read: fromJson,
  },
  {
    name: "JSON of a coloured line",
    write: ({ text }, below) => {
      const at = below(text.length + 1)
      const line = `${text.slice(0, at)}${escapeCharacter}[1m${text.slice(at)}${escapeCharacter}[0m`
      return `{"line":"${jsonString(line)}"}`
    },
    read: text => withoutSequences(fromJson(text)),
  },
]

const unwrapped = (text: string) => text.replace(/^echo \$?["']|["']$/g, "")

/** Decorations of a shell argument. */
const inShell: readonly Decoration[] = [
  {
    name: "single quotes",
    write: ({ text }) => `echo '${text.replaceAll("'", "'\\''")}'`,
    read: text => unwrapped(text).replaceAll("'\\''", "'"),
  },
  {
    name: "single quotes with double quotes",
    write: ({ text }) => `echo '${text.replaceAll("'", `'"'"'`)}'`,
    read: text => unwrapped(text).replaceAll(`'"'"'`, "'"),
  },
  {
    name: "double quotes",
    write: ({ text }) => `echo "${text.replace(/["$`\\]/g, "\\$&")}"`,
    read: text => unwrapped(text).replace(/\\(["$`\\])/g, "$1"),
  },
  {
    name: "quotes with escapes",
    write: ({ text }) => `echo $'${text.replace(/['\\]/g, "\\$&").replaceAll("\n", "\\n")}'`,
    read: text => unwrapped(text).replace(/\\(['\\n])/g, (_, one: string) => (one === "n" ? "\n" : one)),
  },
]

const joints = ['""', "''", `'"`, `"'`, "\\\n", "\\\r\n"]

/** Splits one secret where a shell would join the parts again. */
const inParts: Decoration = {
  name: "parts that a shell joins",
  write: ({ text, secrets }, below) => {
    const places = secrets.flatMap(({ start, end }) =>
      Array.from({ length: Math.max(0, end - start - 1) }, (_, index) => start + 1 + index),
    )
    const between = places.filter(at => /^[\w+/=-]{2}$/.test(text.slice(at - 1, at + 1)))
    const at = between[below(between.length)]
    return at === undefined ? text : inserted(text, [at], () => joints[below(joints.length)] ?? "")
  },
  // A text may have such a joint itself: both are read alike.
  read: text => text.replace(/(?<=[\w+/=-])(?:["']{2}|\\\r?\n)(?=[\w+/=-])/g, ""),
}

const time = "2026-01-02T03:04:05.678Z INFO "

/** Decorations in the output of programs. */
const printed: readonly Decoration[] = [
  { name: "as it is", write: ({ text }) => text, read: asIs },
  { name: "behind a time", write: ({ text }) => time + text, read: text => text.slice(time.length) },
  { name: "in XML", write: ({ text }) => `<line>${xmlText(text)}</line>`, read: fromXml },
]

const entities: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
}

function xmlText(text: string): string {
  return text.replace(/[&<>"']/g, character => entities[character] ?? character)
}

function fromXml(text: string): string {
  const inner = text.replace(/^<line>|<\/line>$/g, "")
  return Object.entries(entities).reduceRight(
    (result, [plain, entity]) => result.replaceAll(entity, plain),
    inner,
  )
}

/** Every one of them can stand around any text. */
export const decorations: readonly Decoration[] = [...printed, ...coloured, ...inJson, ...inShell, inParts]
/** Decorations that may surround a decorated text, because they do not split it. */
export const wrappings: readonly Decoration[] = [...printed, ...inJson.slice(0, -1), ...inShell]

const redactor = createRedactor({ secretValues: [], extraPatterns: [] })
const asItIs: Decoration = { name: "as it is", write: ({ text }) => text, read: text => text }
const isHidden = (labelled: LabelledText, output: string) => !isLeaked(labelled, output)

/**
 * Decorates every labelled text, redacts it whole and in chunks, and returns what leaks, what is changed without a
 * secret in it, and where a stream returns another text than the whole. Secrets that are not found undecorated are left
 * out.
 */
export function decorationViolations(seed: number): string[] {
  const below = seeded(seed)
  const found: string[] = []
  const texts = [
    ...foundSecrets("labelled-secrets.txt", seed),
    ...labelledTexts("labelled-benign.txt", seed),
    ...foundSecrets("labelled-services.txt", seed),
  ]
  for (const labelled of texts) {
    const decoration = decorations[below(decorations.length)] ?? asItIs
    const written = decoration.write(labelled, below)
    const redacted = redactor.redactText(written)
    const about = `${labelled.label} (${decoration.name}): ${JSON.stringify(written)}`
    if (labelled.secrets.length === 0 && redacted !== written) found.push(`changed ${about}`)
    if (!isHidden(labelled, decoration.read(redacted))) found.push(`leaked ${about}`)
    if (streamed(written, below) !== redacted) found.push(`another text in chunks ${about}`)
  }
  return found
}

function foundSecrets(
  file: "labelled-secrets.txt" | "labelled-services.txt",
  seed: number,
): readonly LabelledText[] {
  return labelledTexts(file, seed).filter(one => isHidden(one, redactor.redactText(one.text)))
}

function streamed(text: string, below: (count: number) => number): string {
  const bytes = Buffer.from(text)
  const stream = redactor.stream()
  const out: Uint8Array[] = []
  for (let at = 0; at < bytes.length; ) {
    const end = Math.min(bytes.length, at + 1 + below(24))
    out.push(Buffer.from(stream.push(bytes.subarray(at, end))))
    at = end
  }
  return Buffer.concat([...out, stream.end()]).toString()
}
