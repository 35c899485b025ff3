import type { CheckpointSummary } from "../../../app/verbs/checkpoint-summary.ts"
import type { RestorePreview } from "../../../app/verbs/restore.ts"
import { shownPath } from "../../../base/path-names.ts"
import { counted, oneLine } from "../../../base/text.ts"
import { exitCodeOf } from "../../../domain/failure.ts"
import type { Checkpoint } from "../../../workspace/checkpoint/contract.ts"
import type { TreeEntry } from "../../../workspace/contract.ts"
import type { CliContext } from "../../context.ts"
import { defineCommand } from "../../definition.ts"
import { limitFlag } from "../../parse/flags.ts"
import { bytesText, shortId } from "../../render/format.ts"
import {
  explained,
  interruptedLine,
  keptLine,
  leftAlone,
  printPaths,
  restoredExitCode,
  typedPath,
} from "../../render/restored-text.ts"
import { stoppable } from "../../terminal/interruption.ts"
import { confirm } from "../../terminal/keyboard.ts"
import { isInteractive } from "../../terminal/terminal.ts"

const idArgument = {
  name: "ID",
  id: "checkpoint",
  summary: "the id, its beginning or its last characters",
} as const

export const checkpointList = defineCommand({
  name: "checkpoint list",
  summary: "list copies of files that can be restored, newest first",
  description:
    "Before a call changes files, and before undo, recovery or a restore replaces any, a copy of them is kept.\n" +
    "Copies are removed after the undo window (checkpoints.undo_days). When space runs short, copies made before calls\n" +
    "are removed earlier; copies of what undo, recovery or a restore replaced never are, and acode names them when the\n" +
    "window is over.",
  arguments: [],
  flags: { limit: limitFlag("at most N of them (50)") },
  examples: [
    { line: "acode checkpoint list", note: "what can be restored" },
    { line: "acode checkpoint list --json", note: "for a script" },
  ],
  run: async ({ flags }, { service, output, globals }) => {
    const all = await (await service()).checkpoints()
    const found = all.slice(0, flags.limit ?? 50)
    if (globals.json) output.json(found)
    for (const summary of found) output.line(row(summary))
    if (found.length === 0) output.notice("no checkpoints")
    return 0
  },
})

function row({ id, at, why, sessionId, fileCount, sizeBytes }: CheckpointSummary): string {
  const session = sessionId === null ? "" : `session ${shortId(sessionId)}`
  const size = `${counted(fileCount, "file")}, ${bytesText(sizeBytes)}`
  return `${shortId(id)}  ${at.slice(0, 19)}Z  ${size.padStart(20)}  ${session.padEnd(16)}  ${oneLine(why, 100)}`
}

export const checkpointShow = defineCommand({
  name: "checkpoint show",
  summary: "show the paths that a checkpoint holds",
  arguments: [idArgument],
  flags: {},
  examples: [{ line: "acode checkpoint show 3f2a91bc", note: "its paths, and what each was" }],
  run: async ({ arguments: [typed = ""] }, { service, output, globals }) => {
    const app = await service()
    const { summary, checkpoint } = await app.checkpoint(await app.idOf(typed, "checkpoint"))
    if (globals.json) output.json({ ...summary, paths: pathsOf(checkpoint) })
    output.line(`[CHECKPOINT] ${summary.id}`)
    output.line(`  why      ${oneLine(summary.why, 200)}`)
    output.line(`  taken    ${summary.at}`)
    if (summary.sessionId !== null) output.line(`  session  ${summary.sessionId}`)
    for (const shown of pathsOf(checkpoint)) output.line(`  ${pathText(shown)}`)
    const command = `\`acode checkpoint restore ${summary.id}\``
    output.line(
      output.dim(output.advice(`→ ${command} restores all of it; with paths behind it, only those`)),
    )
    return 0
  },
})

interface ShownPath {
  readonly path: string
  readonly kind: TreeEntry["kind"] | "directory" | "nothing"
  readonly mode: string | null
  readonly sizeBytes: number | null
  readonly target: string | null
}

function pathsOf({ entries, absent, directories, kept }: Checkpoint): readonly ShownPath[] {
  const there = new Set(directories.map(({ path }) => path))
  const gone = [...(kept?.leavesDirectories.keys() ?? [])].filter(path => !there.has(path))
  const nothing = [...absent, ...gone.map(path => `${path}/`)].map(path => ({
    path,
    kind: "nothing" as const,
    mode: null,
    sizeBytes: null,
    target: null,
  }))
  const folders = directories.map(({ path, mode }) => ({
    path,
    kind: "directory" as const,
    mode: octal(mode),
    sizeBytes: null,
    target: null,
  }))
  return [...[...entries.values()].map(shownEntry), ...nothing, ...folders]
}

function shownEntry(entry: TreeEntry): ShownPath {
  const { path, kind, mode, sizeBytes } = entry
  if (entry.kind === "symlink") return { path, kind, mode: null, sizeBytes: null, target: entry.target }
  return { path, kind, mode: octal(mode), sizeBytes: entry.kind === "file" ? sizeBytes : null, target: null }
}

function octal(mode: number): string {
  return mode.toString(8).padStart(4, "0")
}

function pathText({ path, kind, mode, sizeBytes, target }: ShownPath): string {
  const size = sizeBytes === null ? "" : bytesText(sizeBytes)
  const end = target === null ? "" : ` -> ${shownPath(target)}`
  return `${kind.padEnd(9)} ${(mode ?? "").padEnd(4)} ${size.padStart(9)}  ${shownPath(kind === "directory" ? `${path}/` : path)}${end}`
}

export const checkpointRestore = defineCommand({
  name: "checkpoint restore",
  summary: "restore a checkpoint, or some paths of it",
  description:
    "Saves the present contents first, in a new checkpoint. Asks about a path that was changed since; without a terminal\n" +
    "the path is left alone and listed, and the exit code is 60. A path that is named on the command line is restored in\n" +
    "any case.",
  arguments: [
    idArgument,
    {
      name: "PATH",
      summary: "only this file, or this directory and everything below it",
      optional: true,
      variadic: true,
    },
  ],
  flags: {},
  examples: [
    { line: "acode checkpoint restore 3f2a91bc", note: "all of it" },
    { line: "acode checkpoint restore 3f2a91bc src/main.ts", note: "one file, whatever is there now" },
  ],
  run: async ({ arguments: [typed = "", ...named] }, context) => {
    const { output, globals } = context
    const app = await context.service()
    const id = await app.idOf(typed, "checkpoint")
    const paths = named.map(path => app.recordedPath(path))
    const preview = await stoppable(stopping => app.previewRestore(id, paths, stopping))
    const isAgreed = named.length > 0 || (await isConfirmed(context, preview))
    const also = isAgreed ? preview.doubts.map(({ path }) => path) : []
    const done = await stoppable(stopping => app.restoreCheckpoint(id, preview, also, stopping))
    if (globals.json) output.json({ id, restored: done.write, removed: done.remove, ...leftOf(done) })
    printPaths(output, {
      restored: done.write.map(shownPath),
      removed: done.remove.map(shownPath),
      "left alone": leftAlone(done.foreign, preview.doubts),
      "not restored": done.blocked.map(explained),
    })
    if (done.write.length + done.remove.length + done.foreign.length + done.blocked.length === 0)
      output.notice("nothing to restore: the workspace already matches the checkpoint")
    if (done.foreign.length > 0)
      output.notice(
        `→ \`acode checkpoint restore ${id} ${typedPath(done.foreign[0] ?? "PATH")}\` restores that path in any case`,
      )
    if (done.keptId !== null) output.notice(keptLine(done.keptId))
    if (!done.isInterrupted) return restoredExitCode(done)
    output.notice(interruptedLine(done.write.length + done.remove.length))
    const rest = paths.map(path => ` ${typedPath(path)}`).join("")
    output.notice(`→ \`acode checkpoint restore ${id}${rest}\` continues with the rest`)
    return exitCodeOf("interrupted")
  },
})

type Done = Awaited<ReturnType<Awaited<ReturnType<CliContext["service"]>>["restoreCheckpoint"]>>

function leftOf({ foreign, blocked, keptId, isInterrupted }: Done) {
  return { foreign, blocked, keptId, isInterrupted }
}

async function isConfirmed(context: CliContext, { doubts }: RestorePreview): Promise<boolean> {
  if (doubts.length === 0 || !isInteractive(context)) return false
  const lines = doubts.map(doubt => `  ${explained(doubt)}`)
  return confirm(context.output, lines, "replace these too? The present contents are saved first.")
}
