import { quotedPath, shownPath } from "../../../base/path-names.ts"
import { shellQuoted } from "../../../base/text.ts"
import { exitCodeOf, Failure } from "../../../domain/failure.ts"
import { contentsIn, type UndoDoubt, type Undone, type UndoPlan } from "../../../engine/undo.ts"
import type { CliContext } from "../../context.ts"
import { defineCommand } from "../../definition.ts"
import { shortId } from "../../render/format.ts"
import {
  explained,
  interruptedLine,
  keptLine,
  leftAlone,
  printPaths,
  restoredExitCode,
  typedPath,
} from "../../render/restored-text.ts"
import { sessionArguments, sessionIdOf } from "../../session-id.ts"
import { stoppable } from "../../terminal/interruption.ts"
import { confirm } from "../../terminal/keyboard.ts"
import { isInteractive } from "../../terminal/terminal.ts"

export const sessionUndo = defineCommand({
  name: "session undo",
  summary: "revert what a session changed, and nothing else",
  description:
    "Saves the present contents first; `acode checkpoint restore ID` restores them. Asks about a path that you or another\n" +
    "program may have changed, also about one that changed while a command ran; without a terminal the path is left\n" +
    "alone and listed, and the exit code is 60. Running undo again continues with the rest.",
  ...sessionArguments,
  flags: {
    ...sessionArguments.flags,
    preview: { kind: "boolean", summary: "only show what would be reverted" },
    also: {
      kind: "list",
      value: "PATH",
      summary: "revert this path too, even if you or another program changed it",
    },
    commands: {
      kind: "boolean",
      summary: "also revert files that changed while a command ran, but not since",
    },
  },
  examples: [
    { line: "acode session undo 3f2a91bc --preview", note: "see what would change" },
    { line: "acode session undo 3f2a91bc", note: "revert it" },
    { line: "acode session undo 3f2a91bc --commands", note: "with what its commands changed" },
    {
      line: "acode session undo 3f2a91bc --also src/main.ts",
      note: "this file too, although it was edited since",
    },
  ],
  run: async (input, context) => {
    const { output, globals } = context
    const app = await context.service()
    const id = await sessionIdOf(app, input)
    const plan = await stoppable(stopping => app.previewUndo(id, stopping))
    const { remove, write, doubts, lost } = plan
    const foreign = doubts.map(({ path }) => path)
    if (input.flags.preview) {
      if (globals.json)
        output.json({ id, remove, write, foreign, doubts, lost: lost.map(({ path }) => path) })
      printPaths(output, {
        "would remove": remove.map(shownPath),
        "would restore": write.map(shownPath),
        "would ask about": doubts.map(explained),
        lost: lost.map(explained),
      })
      return 0
    }
    const also = input.flags.also.map(path => app.recordedPath(path))
    const agreed = await agreedPaths(id, plan, { also, commands: input.flags.commands }, context)
    const undone = await stoppable(stopping => app.undo(id, agreed, stopping))
    const left = doubts.flatMap(doubt => leftDoubt(doubt, undone, agreed))
    if (globals.json) output.json({ id, ...undone, doubts: left })
    printPaths(output, {
      removed: undone.removed.map(shownPath),
      restored: undone.restored.map(shownPath),
      "left alone": leftAlone(undone.foreign, left),
      "not restored": undone.blocked.map(explained),
    })
    const byCommands = left.filter(({ isOnlyByCommand }) => isOnlyByCommand)
    if (byCommands.length > 0)
      output.notice(
        `→ \`acode session undo ${shortId(id)} --commands\` reverts what changed while a command ran`,
      )
    const others = undone.foreign.filter(path => !byCommands.some(each => each.path === path))
    if (others.length > 0)
      output.notice(`→ ${alsoCommand(id, others.toSorted(filesFirst))} reverts that path in any case`)
    if (undone.keptId !== null) output.notice(keptLine(undone.keptId))
    if (!undone.isInterrupted) return restoredExitCode(undone)
    output.notice(interruptedLine(undone.removed.length + undone.restored.length))
    output.notice(`→ \`acode session undo ${shortId(id)}${typedFlags(input.flags)}\` continues with the rest`)
    return exitCodeOf("interrupted")
  },
})

/** Returns the reason why a path was left. One that the person agreed to was changed after the question. */
function leftDoubt(
  doubt: UndoDoubt,
  { foreign }: Undone,
  agreed: ReadonlyMap<string, unknown>,
): readonly UndoDoubt[] {
  const { path } = doubt
  if (!foreign.includes(path)) return []
  if (!agreed.has(path)) return [doubt]
  const reason = path.endsWith("/") ? "something in it stays" : "it was changed while the undo ran"
  return [{ path, reason, isOnlyByCommand: false }]
}

/** Sorts files before directories, which follow from the files in them. */
function filesFirst(a: string, b: string): number {
  return Number(a.endsWith("/")) - Number(b.endsWith("/"))
}

function typedFlags({
  commands,
  also,
}: {
  readonly commands: boolean
  readonly also: readonly string[]
}): string {
  const paths = also.map(path => ` --also ${shellQuoted(path)}`)
  return `${commands ? " --commands" : ""}${paths.join("")}`
}

/** Returns the doubtful paths that a person agrees to revert, with their contents at the time of the question. */
async function agreedPaths(
  id: string,
  plan: UndoPlan,
  { also, commands }: { readonly also: readonly string[]; readonly commands: boolean },
  context: CliContext,
): Promise<ReadonlyMap<string, string | null | undefined>> {
  const contents = contentsIn(plan)
  const unknown = also.find(path => !contents.has(path) && !contents.has(`${path}/`))
  if (unknown !== undefined) throw notChanged(id, unknown)
  const agreed = new Set(also.flatMap(path => [path, `${path}/`]).filter(path => contents.has(path)))
  const open = plan.doubts.filter(({ path }) => !agreed.has(path))
  const byCommands = open.filter(({ isOnlyByCommand }) => isOnlyByCommand)
  const others = open.filter(({ isOnlyByCommand }) => !isOnlyByCommand).map(explained)
  const names = byCommands.map(({ path }) => path)
  if (
    commands ||
    (await isConfirmed(
      context,
      "these files changed while a command ran; the command or you changed them:",
      names.map(shownPath),
    ))
  )
    for (const path of names) agreed.add(path)
  if (await isConfirmed(context, "you or another program may have changed these since:", others))
    for (const { path, isOnlyByCommand } of open) if (!isOnlyByCommand) agreed.add(path)
  return new Map([...agreed].map(path => [path, contents.get(path)]))
}

async function isConfirmed(context: CliContext, title: string, paths: readonly string[]): Promise<boolean> {
  if (paths.length === 0 || !isInteractive(context)) return false
  const lines = [title, ...paths.map(path => `  ${path}`)]
  return confirm(context.output, lines, "revert these too? The present contents are saved first.")
}

function notChanged(id: string, path: string): Failure {
  return new Failure({
    kind: "usage",
    code: "ACODE-CLI-003",
    message: `the session has no change to ${quotedPath(path)} that can be reverted`,
    where: "--also",
    hint: `\`acode session undo ${shortId(id)} --preview\` names the paths`,
  })
}

function alsoCommand(id: string, [first = "PATH"]: readonly string[]): string {
  return `\`acode session undo ${shortId(id)} --also ${typedPath(first)}\``
}
