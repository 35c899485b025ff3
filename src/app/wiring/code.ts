import { compileGlob, type Glob } from "../../base/glob.ts"
import type { CodeParser } from "../../code/contract.ts"
import { createCodeParser, usualLimits } from "../../code/parser.ts"
import { Failure } from "../../domain/failure.ts"
import { isDamage, openCodeIndex, openCodeIndexWriter } from "../../store/code-index/code-index.ts"
import type { CodeIndex, CodeIndexWriter, FileToIndex, IndexedFile } from "../../store/code-index/contract.ts"
import type { TreeEntry, Workspace } from "../../workspace/contract.ts"
import type { Wiring } from "./wire.ts"

export interface IndexRequest {
  /** Throws away what is there. */
  readonly isRebuilt: boolean
  /** When to stop and leave the rest for later; null for a complete index. */
  readonly timeMs: number | null
}

/** What an update did, and what it left. */
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

/** Files of one commit: as many as are lost when the process is killed. */
const filesPerCommit = 200

/** Brings the index up to date and returns it open. Throws E103 or ACODE-CODE-002 where there is none. */
export async function openUpdatedIndex(wiring: Wiring, request: IndexRequest): Promise<OpenedIndex> {
  const { code } = (await wiring.config()).values
  if (!code.enabled) throw noIndex("code.enabled is false")
  // Makes the directory of the state, and refuses a workspace that is too broad.
  await wiring.store()
  const parser = createCodeParser({ ...usualLimits, fileBytesMax: code.max_file_kb * 1024 })
  const { workspace } = await wiring.workspace()
  const options = {
    path: wiring.places.codeIndexPath,
    parserVersion: `${parser.version}:${code.max_file_kb}`,
    faults: wiring.faults,
  }
  const excluded = code.exclude.flatMap(pattern => compileGlob(pattern) ?? [])
  const writer = openCodeIndexWriter(options, request.isRebuilt)
  if (writer === null) {
    const index = openCodeIndex(options)
    if (index === null || request.timeMs === null) throw busyIndex(wiring.places.codeIndexPath)
    const changes = await changesIn(workspace, parser, index.files(), excluded)
    const update = { files: changes.files, parsed: 0, removed: 0, missing: changes.changed.length }
    return { index, update, [Symbol.dispose]: () => index[Symbol.dispose]() }
  }
  try {
    const update = await updated(writer, { workspace, parser, excluded, timeMs: request.timeMs })
    return { index: writer, update, [Symbol.dispose]: () => writer[Symbol.dispose]() }
  } catch (error) {
    writer[Symbol.dispose]()
    if (!isDamage(error) || request.isRebuilt) throw error
    // The file was damaged where the check on opening does not look.
    return openUpdatedIndex(wiring, { ...request, isRebuilt: true })
  }
}

interface UpdateParts {
  readonly workspace: Workspace
  readonly parser: CodeParser
  readonly excluded: readonly Glob[]
  readonly timeMs: number | null
}

async function updated(writer: CodeIndexWriter, parts: UpdateParts): Promise<IndexUpdate> {
  const { workspace, parser, excluded, timeMs } = parts
  const deadline = performance.now() + (timeMs ?? Number.POSITIVE_INFINITY)
  const { files, changed, removed } = await changesIn(workspace, parser, writer.files(), excluded)
  let parsed = 0
  let done = 0
  let batch: FileToIndex[] = []
  if (removed.length > 0) writer.update([], removed)
  for (const entry of changed) {
    if (performance.now() > deadline) break
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
  workspace: Workspace,
  parser: CodeParser,
  known: ReadonlyMap<string, IndexedFile>,
  excluded: readonly Glob[],
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

/** A file without an extension has its language in its first line, and only a script has one. */
function mayBeCode(parser: CodeParser, { path, mode }: TreeFile): boolean {
  if (parser.languageOf(path) !== null) return true
  return (mode & anyoneMayExecute) !== 0 && !path.slice(path.lastIndexOf("/") + 1).includes(".")
}

function contentOf(entry: TreeFile): string {
  return entry.sha256 ?? entry.identity ?? ""
}

/** Null when the file is gone, or is in no language that is known. */
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
    const read = workspace.readExact(path, usualReadBytesMax)
    if (read === null) return null
    const facts = await parser.parse(path, read.bytes)
    // Remembered, so that it is not read again as long as it stays as it is.
    if (facts === null) return unread("its language is not known")
    return { path, sha256: read.content, facts }
  } catch (error) {
    if (!(error instanceof Failure)) throw error
    return unread(error.report.message)
  }
}

/** More than any file that is parsed; the parser has the limit that counts. */
const usualReadBytesMax = 64 * 1024 * 1024

function noIndex(reason: string): Failure {
  return new Failure({
    kind: "usage",
    code: "E103",
    message: `there is no code index: ${reason}`,
    hint: "`acode config set code.enabled true` switches it on",
  })
}

function busyIndex(where: string): Failure {
  return new Failure({
    kind: "general",
    code: "ACODE-CODE-002",
    message: "another acode is changing the code index",
    where,
    hint: "wait until it has finished, and try again",
  })
}
