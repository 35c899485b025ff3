import { lstatSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import type { Clock } from "../base/clock.ts"
import type { Faults } from "../base/faults.ts"
import { Failure } from "../domain/failure.ts"
import { ensurePrivateDirectory } from "./checkpoint/contents.ts"
import type { CheckpointLimits, Checkpoints } from "./checkpoint/contract.ts"
import { modesAt } from "./checkpoint/directories.ts"
import { readExactContent } from "./checkpoint/exact-entry.ts"
import { changesSince, contentsSince, directoriesSince, hiddenSince } from "./checkpoint/manifest.ts"
import { contentOfPresentEntry, inspect } from "./checkpoint/present-entry.ts"
import { planRestore, restoreCheckpoints } from "./checkpoint/restore.ts"
import { CheckpointStore } from "./checkpoint/store.ts"
import type { PathGuard, RunProgram, TreeOptions, Workspace } from "./contract.ts"
import { fileFailure } from "./failures.ts"
import { listDirectory } from "./files/list-directory.ts"
import { locate } from "./files/pinned-name.ts"
import { readLines, readLinesPaced, readWhole, readWholeText } from "./files/read-file.ts"
import { WorkspaceRoot } from "./files/root.ts"
import { encodeText } from "./files/text-format.ts"
import { deleteFiles, removeLeftovers, writeFile } from "./files/write-file.ts"
import { readGitHead } from "./git.ts"
import { Pace } from "./pace.ts"
import { globFiles } from "./search/glob.ts"
import { searchFiles } from "./search/search.ts"
import { ignoredSince } from "./tree/ignored.ts"
import { markPaths, stampFiles } from "./tree/path-marks.ts"
import { TreeReader } from "./tree/reader.ts"
import { loadStatCache, saveStatCache } from "./tree/stat-cache.ts"

export interface WorkspaceOptions {
  readonly directory: string
  /** The directory of checkpoints; the cache of hashes is beside them. */
  readonly checkpointDirectory: string
  readonly checkpointLimits: CheckpointLimits
  /** The most ignored files and directories to watch while a command runs. Has a default. */
  readonly ignoredEntriesMax?: number
  readonly guard: PathGuard
  /** Reports paths that listings, searches and globs leave out. */
  readonly isHidden: (path: string) => boolean
  /** Reports paths that are not part of the tree. Its answers must not change while the workspace is open. */
  readonly isProtected: (path: string) => boolean
  /** `dev:ino` of the files that acode's own output goes to. */
  readonly ownOutputs: ReadonlySet<string>
  readonly ripgrep: { readonly program: string; readonly run: RunProgram } | null
  /** Returns the signal that is aborted when the user stops acode, to interrupt long work. */
  readonly stopping?: () => AbortSignal | null
  readonly clock: Clock
  readonly faults: Faults
}

export interface OpenWorkspace {
  readonly workspace: Workspace
  readonly checkpoints: Checkpoints
}

export function openWorkspace(options: WorkspaceOptions): OpenWorkspace {
  const { checkpointDirectory, clock, faults, isHidden, isProtected, ownOutputs, ripgrep } = options
  const paced = (graceMs?: number) => new Pace(clock, options.stopping, graceMs)
  const root = new WorkspaceRoot(options.directory, options.guard)
  const cacheFile = join(checkpointDirectory, "stat-cache")
  const cache = loadStatCache(cacheFile)
  const { fileBytesMax } = options.checkpointLimits
  const watched = options.ignoredEntriesMax
  const scope = { isProtected, ownOutputs, fileBytesMax }
  const reader = new TreeReader(
    root,
    watched === undefined ? scope : { ...scope, ignoredEntriesMax: watched },
    cache,
    clock,
  )
  const workspace: Workspace = {
    path: root.path,
    locate: typed => locate(root, typed),
    hasEntry: name => lstatSync(join(root.path, name), { throwIfNoEntry: false }) !== undefined,
    readLines: (typed, range) => readLines(root, typed, range),
    readLongLines: (typed, range) => readLinesPaced(root, typed, range, paced()),
    readText: (typed, bytesMax) => readWholeText(root, typed, bytesMax),
    readExact: (path, bytesMax) => readExactContent(root, path, bytesMax),
    readBytes: (typed, bytesMax) => readWhole(root, typed, bytesMax),
    encode: (text, format, path) => {
      const bytes = encodeText(text, format)
      if (bytes === null)
        throw fileFailure("notText", path, `is ${format.encoding}, which lacks a character of the text`)
      return bytes
    },
    write: request => writeFile(root, request, faults),
    delete: paths => deleteFiles(root, paths, faults),
    mark: paths => markPaths(root, paths),
    gitHead: () => readGitHead(root.path),
    removeLeftovers: directory => removeLeftovers(root, directory),
    list: request => listDirectory(root, request, isHidden),
    stamps: directory => stampFiles(root, directory, isHidden, clock.now()),
    glob: request => globFiles(root, request, isHidden),
    search: request =>
      searchFiles(root, request, { clock, isHidden, ...(ripgrep === null ? {} : { ripgrep }) }),
    keepHashes: keepCache,
    tree: (options = {}) => reader.read(paced(options.graceMs), options),
    [Symbol.dispose]: () => root[Symbol.dispose](),
  }
  const store = new CheckpointStore(checkpointDirectory, options.checkpointLimits, clock, faults)
  return { workspace, checkpoints: checkpointsOf({ store, root, reader, clock, faults, paced, keepCache }) }

  function keepCache(): void {
    ensurePrivateDirectory(checkpointDirectory)
    saveStatCache(cache, cacheFile)
  }
}

function intact<Value>(load: () => Value): Value | null {
  try {
    return load()
  } catch (error) {
    if (error instanceof Failure) return null
    throw error
  }
}

interface CheckpointDeps {
  readonly store: CheckpointStore
  readonly root: WorkspaceRoot
  readonly reader: TreeReader
  readonly clock: Clock
  readonly faults: Faults
  readonly paced: () => Pace
  readonly keepCache: () => void
}

function checkpointsOf(deps: CheckpointDeps): Checkpoints {
  const { store, root, reader, faults, paced, keepCache, clock } = deps
  const source = () => {
    const pace = paced()
    return { root, store, clock, pace, readTree: (rules: TreeOptions) => reader.read(pace, rules) }
  }
  return {
    takeTree: async (id, tree) => {
      const result = await store.takeTree(id, root, tree, paced())
      keepCache()
      return result
    },
    takeFiles: (id, paths) => store.takeFiles(id, root, paths, paced()),
    load: id => intact(() => store.load(id)),
    contentOf: sha256 => store.contents.read(sha256),
    list: () => store.list(),
    changesSince: (checkpoint, tree) => changesSince(checkpoint, tree),
    contentsSince: (checkpoint, tree) => contentsSince(checkpoint, tree),
    ignoredSince: ({ ignoring }, { ignored }) =>
      ignoring?.files == null || ignored === null
        ? { paths: [], unwatched: [] }
        : ignoredSince(ignoring.files, ignored),
    directoriesSince: (checkpoint, tree) => directoriesSince(checkpoint.directories, tree.directories),
    hiddenSince: (before, tree) => hiddenSince(before, tree),
    modesAt: directories => modesAt(root, directories),
    contentsAt: async paths => {
      const pace = paced()
      const contents = new Map<string, string | null | undefined>()
      for (const path of paths)
        contents.set(path, contentOfPresentEntry(await inspect(root, path, pace, store.limits.fileBytesMax)))
      return contents
    },
    plan: goals => planRestore(source(), goals),
    restore: (goals, keeping, owned) => restoreCheckpoints(source(), goals, keeping, owned, faults),
    beat: () => {
      ensurePrivateDirectory(store.directory)
      writeFileSync(join(store.directory, "alive"), "", { mode: 0o600 })
    },
    lastBeatMs: () => lstatSync(join(store.directory, "alive"), { throwIfNoEntry: false })?.ctimeMs ?? null,
    ids: () => store.ids(),
    collect: (candidates, bytesWanted) => store.collect(candidates, bytesWanted),
    freedBy: groups => store.freedBy(groups),
    sweep: () => store.sweep(),
  }
}
