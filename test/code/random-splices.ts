import { readFileSync } from "node:fs"
import { join } from "node:path"
import type { Random } from "../soak/random.ts"
import { failureOf, quietly, type TestRoom, testRoom } from "../tools/support.ts"
import { type Definition, plantedKinds, type SourceKind, sourceKinds } from "./real-definitions.ts"

export interface SpliceRun {
  readonly violations: readonly string[]
  /** How many splices were made, by the extension of their file. */
  readonly applied: ReadonlyMap<string, number>
  readonly refused: number
}

const splicesPerRoom = 20

/**
 * Random splices of real files. Each one is made exactly as strings say, or leaves every file as it was; what must not
 * be made is refused.
 */
export async function randomSplices(count: number, random: Random): Promise<SpliceRun> {
  const kinds = sourceKinds()
  const violations: string[] = []
  const applied = new Map<string, number>()
  let refused = 0
  for (let done = 0; done < count; done += splicesPerRoom) {
    using room = testRoom()
    const files = new Files(room, kinds, random)
    for (let index = done; index < Math.min(count, done + splicesPerRoom); index++) {
      const { problems, made } = await oneOf(files, random)
      violations.push(...[...problems, ...files.differences()].map(problem => `#${index} ${problem}`))
      for (const extension of made) applied.set(extension, (applied.get(extension) ?? 0) + 1)
      if (made.length === 0) refused++
    }
  }
  return { violations, applied, refused }
}

interface Source {
  readonly path: string
  readonly kind: SourceKind
  /** What stands before the text in the file: nothing, or a byte order mark. */
  readonly mark: string
  readonly newline: "\n" | "\r\n"
}

/** The files of a room as they have to be: each text with `\n`, and how it is written. */
class Files {
  readonly sources: readonly Source[]
  private readonly texts = new Map<string, string>()
  private readonly written = new Map<string, Buffer>()

  constructor(
    readonly room: TestRoom,
    kinds: readonly SourceKind[],
    random: Random,
  ) {
    // Most of them real files, and four of the planted kinds.
    const real = kinds.slice(0, -plantedKinds)
    const others = Array.from({ length: 4 }, () => random.oneOf(kinds.slice(-plantedKinds)))
    this.sources = [...real, ...real, ...others].map((kind, index) => ({
      path: `src/größe-${index}.${kind.extension}`,
      kind,
      // A script has to begin with its first line.
      mark: random.whole(4) === 0 && kind.extension !== "sh" ? "\ufeff" : "",
      newline: random.whole(3) === 0 ? "\r\n" : "\n",
    }))
    for (const source of this.sources) this.put(source, source.kind.text(random))
  }

  text({ path }: Source): string {
    return this.texts.get(path) ?? ""
  }

  /** Writes a text as somebody else than acode does. */
  put(source: Source, text: string): void {
    this.expect(source, text)
    this.room.put(source.path, bytesOf(source, text))
  }

  /** Says what acode is to have written. */
  expect(source: Source, text: string): void {
    this.texts.set(source.path, text)
    this.written.set(source.path, bytesOf(source, text))
  }

  differences(): string[] {
    return [...this.written].flatMap(([path, bytes]) => {
      const now = readFileSync(join(this.room.root, path))
      if (now.equals(bytes)) return []
      this.written.set(path, now)
      return [`${path} is not as strings say: ${firstDifference(bytes.toString(), now.toString())}`]
    })
  }
}

function bytesOf({ mark, newline }: Source, text: string): Buffer {
  return Buffer.from(mark + text.replaceAll("\n", newline))
}

function firstDifference(expected: string, is: string): string {
  let at = 0
  while (at < expected.length && expected[at] === is[at]) at++
  const around = (text: string) => JSON.stringify(text.slice(Math.max(0, at - 60), at + 60))
  return `${around(is)} and not ${around(expected)}`
}

interface Made {
  readonly problems: readonly string[]
  /** The extensions of the files in which a symbol was replaced. */
  readonly made: readonly string[]
}

async function oneOf(files: Files, random: Random): Promise<Made> {
  const choice = random.whole(100)
  if (choice < 55) return single(files, random)
  if (choice < 75) return harmful(files, random)
  if (choice < 90) return several(files, random)
  return edited(files, random)
}

/** A definition of a file; null where it has none that a second parser finds. */
function chosen(files: Files, random: Random, source = random.oneOf(files.sources)) {
  const text = files.text(source)
  const all = source.kind.definitions(text)
  if (all.length === 0) return null
  return { source, text, definition: random.oneOf(all) }
}

function replaced(text: string, { start, text: old }: Definition, fresh: string): string {
  return text.slice(0, start) + fresh + text.slice(start + old.length)
}

/** Writes the new definition as a person does who cuts whole lines out of the file. */
function putFresh(
  files: Files,
  name: string,
  text: string,
  { start }: Definition,
  fresh: string,
  random: Random,
) {
  const line = text.slice(text.lastIndexOf("\n", start - 1) + 1, start)
  const indentation = /^[ \t]*/.exec(line)?.[0] ?? ""
  const whole = `${indentation}${fresh}\n`
  files.room.put(name, random.whole(2) === 0 ? whole : whole.replaceAll("\n", "\r\n"))
}

async function single(files: Files, random: Random): Promise<Made> {
  const found = chosen(files, random)
  if (found === null) return { problems: [], made: [] }
  const { source, text, definition } = found
  const fresh = random.whole(8) === 0 ? definition.text : definition.changed(random.whole(1_000))
  putFresh(files, "new/fresh", text, definition, fresh, random)
  const failure = await failureOf(() => spliceCall(files, source, definition))
  if (failure !== null) return { problems: allowedRefusal(failure, source, definition), made: [] }
  files.expect(source, replaced(text, definition, fresh))
  return { problems: errorsAfter(source, text, files.text(source)), made: [source.kind.extension] }
}

function spliceCall({ room }: Files, { path }: Source, { symbol }: Definition) {
  return room.call("splice_patch", { file: path, symbol, with: "new/fresh" })
}

/** A valid definition is refused only where its name is not unique in the file. */
const notUnique = "ACODE-PAT-004"

function allowedRefusal(
  { code, message }: { readonly code: string; readonly message: string },
  { path }: Source,
  { symbol }: Definition,
): readonly string[] {
  return code === notUnique ? [] : [`${symbol} of ${path}: ${code} ${message}`]
}

function errorsAfter({ path, kind }: Source, before: string, after: string): readonly string[] {
  const [had, has] = [kind.errors(before), kind.errors(after)]
  return had === null || has === null || has <= had
    ? []
    : [`${path} has ${has} syntax errors, and had ${had}`]
}

/** New text that is no definition of the symbol: nothing may be written. */
async function harmful(files: Files, random: Random): Promise<Made> {
  const found = chosen(files, random)
  if (found === null) return { problems: [], made: [] }
  const { source, text, definition } = found
  const { text: old, name } = definition
  const fresh = random.oneOf([
    old.slice(0, -1),
    old.replace(name, `${name}Other`),
    `${old}\n${old}`,
    `${old}\nfunction (((`,
    "",
    "🎉",
    old.replace(name, "größe"),
  ])
  putFresh(files, "new/fresh", text, definition, fresh, random)
  const failure = await failureOf(() => spliceCall(files, source, definition))
  return failure === null
    ? {
        problems: [`${definition.symbol} of ${source.path} became ${JSON.stringify(fresh).slice(0, 200)}`],
        made: [],
      }
    : { problems: [], made: [] }
}

/** Several symbols at once, some of them in one file and inside each other: all or none. */
async function several(files: Files, random: Random): Promise<Made> {
  const texts = new Map<Source, string>()
  const steps: object[] = []
  const made: string[] = []
  for (let index = 0; index < 2 + random.whole(3); index++) {
    const source = random.oneOf(files.sources)
    const text = texts.get(source) ?? files.text(source)
    const all = source.kind.definitions(text)
    if (all.length === 0) continue
    const definition = random.oneOf(all)
    const fresh = definition.changed(random.whole(1_000))
    putFresh(files, `new/${index}`, text, definition, fresh, random)
    texts.set(source, replaced(text, definition, fresh))
    steps.push({ file: source.path, symbol: definition.symbol, with: `new/${index}` })
    made.push(source.kind.extension)
  }
  if (steps.length === 0) return { problems: [], made: [] }
  const isBroken = random.whole(3) === 0
  if (isBroken) steps.push({ file: files.sources[0]?.path, symbol: "no_such_symbol", with: "new/0" })
  files.room.put("new/plan.json", JSON.stringify({ steps }))
  const failure = await failureOf(() => files.room.call("splice_plan", { plan_file: "new/plan.json" }))
  if (failure === null && isBroken)
    return { problems: ["a plan with a symbol that is not there was made"], made: [] }
  if (failure !== null) {
    const isAllowed = failure.code === notUnique || (isBroken && failure.code === "E104")
    return { problems: isAllowed ? [] : [`splice_plan: ${failure.code} ${failure.message}`], made: [] }
  }
  for (const [source, text] of texts) files.expect(source, text)
  return { problems: [], made }
}

/** Lets a person save one of two files between decision and change: their text stays, and so does the other file. */
async function edited(files: Files, random: Random): Promise<Made> {
  const [first, second] = [chosen(files, random), chosen(files, random)]
  if (first === null || second === null || first.source === second.source) return { problems: [], made: [] }
  const both = [first, second]
  for (const [index, { text, definition }] of both.entries())
    putFresh(files, `new/${index}`, text, definition, definition.changed(random.whole(1_000)), random)
  const steps = both.map(({ source, definition }, index) => ({
    file: source.path,
    symbol: definition.symbol,
    with: `new/${index}`,
  }))
  files.room.put("new/plan.json", JSON.stringify({ steps }))
  const listed = files.room.declare("splice_plan", { plan_file: "new/plan.json" })
  const isBefore = random.whole(2) === 0
  // Known to no index: the splice reads the file as it is.
  if (isBefore) files.put(first.source, `${first.text}\n\n`)
  const problem = await failureOf(async () => {
    const prepared = await listed.prepare()
    if (!isBefore) files.put(second.source, `${second.text}\n\n`)
    await prepared.execute(quietly)
  })
  if (problem === null && isBefore) {
    for (const [index, { source, definition }] of both.entries()) {
      const fresh = files.room.read(`new/${index}`).replaceAll("\r\n", "\n").trim()
      files.expect(source, replaced(files.text(source), definition, fresh))
    }
    return { problems: [], made: both.map(({ source }) => source.kind.extension) }
  }
  const isAllowed = problem !== null && (problem.code === "ACODE-FS-007" || problem.code === notUnique)
  return {
    problems: isAllowed ? [] : [`an edit meanwhile: ${problem?.code ?? "nothing"} ${problem?.message ?? ""}`],
    made: [],
  }
}
