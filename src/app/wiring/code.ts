import { compileGlob, type Glob } from "../../base/glob.ts"
import type { CodeParser, ParseLimits } from "../../code/contract.ts"
import { createCodeParser, usualLimits } from "../../code/parser.ts"
import { Failure } from "../../domain/failure.ts"
import {
  type CodeIndexOptions,
  isDamage,
  openCodeIndex,
  openCodeIndexWriter,
} from "../../store/code-index/code-index.ts"
import type { CodeIndex, CodeIndexWriter, FileToIndex, IndexedFile } from "../../store/code-index/contract.ts"
import type { TreeEntry, Workspace } from "../../workspace/contract.ts"
import type { Wiring } from "./wire.ts"

export interface IndexRequest {
  /** Deletes the existing index first. */
  readonly isRebuilt: boolean
  /** The time after which the rest is left for later; null for a complete index, 0 to change nothing. */
  readonly timeMs: number | null
  /** The file that the question is about; it is parsed before all others. */
  readonly first?: string
}

/** The result of an update: what it did and what it left for later. */
export interface IndexUpdate {
  readonly files: number
  readonly parsed: number
  readonly removed: number
  /** Changed files that the index does not know yet. */
  readonly missing: number
}

export interface OpenedIndex extends Disposable {
  readonly index: CodeIndex
  readonly update: IndexUpdate
}

type TreeFile = TreeEntry & { readonly kind: "file" }

/** The number of files in one commit: at most so many are parsed again after a kill. */
const filesPerCommit = 200

/** Updates the index and returns it open. Throws E103 or ACODE-CODE-003 when there is no index. */
export async function openUpdatedIndex(wiring: Wiring, request: IndexRequest): Promise<OpenedIndex> {
  const { code } = (await wiring.config()).values
  if (!code.enabled) throw noIndex("code.enabled is false", switchedOff)
  const parser = createCodeParser(await parseLimitsOf(wiring))
  const { workspace } = await wiring.workspace()
  const options = {
    path: wiring.places.codeIndexPath,
    parserVersion: `${parser.version}:${code.max_file_kb}`,
    faults: wiring.faults,
  }
  const parts = { workspace, parser, excluded: code.exclude.flatMap(each => compileGlob(each) ?? []) }
  if (request.timeMs === 0) return readIndex(options, parts, noIndex("nothing has made it yet", makeIt))
  const writer = await writerOf(wiring, options, request.isRebuilt)
  if ("problem" in writer) {
    if (request.timeMs === null) throw writer.problem
    return readIndex(options, parts, writer.problem)
  }
  try {
    const update = await updated(writer, { ...parts, ...request })
    return { index: writer, update, [Symbol.dispose]: () => writer[Symbol.dispose]() }
  } catch (error) {
    writer[Symbol.dispose]()
    if (!isDamage(error) || request.isRebuilt) throw error
    // The file is damaged in a part that the check on opening does not read.
    return openUpdatedIndex(wiring, { ...request, isRebuilt: true })
  }
}

/** Returns the limits of a file that is parsed, as configuration sets them. */
export async function parseLimitsOf(wiring: Wiring): Promise<ParseLimits> {
  const { code } = (await wiring.config()).values
  return { ...usualLimits, fileBytesMax: code.max_file_kb * 1024 }
}

/** Opens the index for writing, or returns why it cannot be changed; it can still answer questions then. */
async function writerOf(
  wiring: Wiring,
  options: CodeIndexOptions,
  isRebuilt: boolean,
): Promise<CodeIndexWriter | { readonly problem: Failure }> {
  try {
    // Creates the state directory, and refuses a workspace that is too broad.
    await wiring.store()
    return openCodeIndexWriter(options, isRebuilt) ?? { problem: busyIndex(options.path) }
  } catch (error) {
    if (!(error instanceof Failure && notWritable.has(error.report.code))) throw error
    return { problem: noIndex(error.report.message, error.report.hint, error.report.where) }
  }
}

/** The codes for a state directory that is not writable or on a full disk. */
const notWritable: ReadonlySet<string> = new Set(["ACODE-DB-003", "ACODE-DB-004"])

/** Opens the index as it is, and counts files that it does not contain. Throws `problem` when there is no index. */
async function readIndex(
  options: CodeIndexOptions,
  parts: IndexParts,
  problem: Failure,
): Promise<OpenedIndex> {
  const index = openCodeIndex(options)
  if (index === null) throw problem
  try {
    const { files, changed } = await changesIn(parts, index.files())
    const update = { files, parsed: 0, removed: 0, missing: changed.length }
    return { index, update, [Symbol.dispose]: () => index[Symbol.dispose]() }
  } catch (error) {
    index[Symbol.dispose]()
    throw isDamage(error) ? problem : error
  }
}

interface IndexParts {
  readonly workspace: Workspace
  readonly parser: CodeParser
  readonly excluded: readonly Glob[]
}

async function updated(writer: CodeIndexWriter, parts: IndexParts & IndexRequest): Promise<IndexUpdate> {
  const { workspace, parser, timeMs, first } = parts
  const deadline = performance.now() + (timeMs ?? Number.POSITIVE_INFINITY)
  const { files, changed, removed } = await changesIn(parts, writer.files())
  const ordered = [
    ...changed.filter(({ path }) => path === first),
    ...changed.filter(({ path }) => path !== first),
  ]
  let parsed = 0
  let done = 0
  let batch: FileToIndex[] = []
  if (removed.length > 0) writer.update([], removed)
  for (const entry of ordered) {
    if (performance.now() > deadline && entry.path !== first) break
    const file = await indexed(workspace, parser, entry)
    done++
    if (file !== null) {
      batch.push(file)
      parsed++
    }
    if (batch.length < filesPerCommit) continue
    writer.update(batch, [])
    batch = []
  }
  if (batch.length > 0) writer.update(batch, [])
  workspace.keepHashes()
  return { files, parsed, removed: removed.length, missing: changed.length - done }
}

async function changesIn(
  { workspace, parser, excluded }: IndexParts,
  known: ReadonlyMap<string, IndexedFile>,
) {
  const { entries } = await workspace.tree()
  const wanted = entries.filter(
    (entry): entry is TreeFile =>
      entry.kind === "file" && mayBeCode(parser, entry) && !excluded.some(glob => glob.matches(entry.path)),
  )
  const present = new Set(wanted.map(({ path }) => path))
  return {
    files: wanted.length,
    changed: wanted.filter(entry => known.get(entry.path)?.sha256 !== contentOf(entry)),
    removed: [...known.keys()].filter(path => !present.has(path)),
  }
}

const anyoneMayExecute = 0o111

/** Returns whether a file may be code. Without an extension only a script counts: its first line names the language. */
function mayBeCode(parser: CodeParser, { path, mode }: TreeFile): boolean {
  if (parser.languageOf(path) !== null) return true
  return (mode & anyoneMayExecute) !== 0 && !path.slice(path.lastIndexOf("/") + 1).includes(".")
}

function contentOf(entry: TreeFile): string {
  return entry.sha256 ?? entry.identity ?? ""
}

/** Parses a file; null when it is gone or its language is unknown. */
async function indexed(
  workspace: Workspace,
  parser: CodeParser,
  entry: TreeFile,
): Promise<FileToIndex | null> {
  const { path } = entry
  const unread = (reason: string): FileToIndex => ({
    path,
    sha256: contentOf(entry),
    facts: { kind: "unparsed", language: parser.languageOf(path) ?? "unknown", reason },
  })
  try {
    const read = workspace.readExact(path, sourceBytesMax)
    if (read === null) return null
    const facts = await parser.parse(path, read.bytes)
    // Recorded, so that an unchanged file is not read again.
    if (facts === null) return unread("its language is not known")
    return { path, sha256: read.content, facts }
  } catch (error) {
    if (!(error instanceof Failure)) throw error
    return unread(error.report.message)
  }
}

/** A limit above the size of any parsed file; the parser applies the real limit. */
export const sourceBytesMax = 64 * 1024 * 1024

const switchedOff = "`acode config set code.enabled true` switches it on"
const makeIt = "`acode index` makes it"

function noIndex(reason: string, hint: string | undefined, where?: string): Failure {
  return new Failure({
    kind: "usage",
    code: "E103",
    message: `there is no code index: ${reason}`,
    ...(where === undefined ? {} : { where }),
    ...(hint === undefined ? {} : { hint }),
  })
}

function busyIndex(where: string): Failure {
  return new Failure({
    kind: "general",
    code: "ACODE-CODE-003",
    message: "another acode is changing the code index",
    where,
    hint: "wait until it has finished, and try again",
  })
}
