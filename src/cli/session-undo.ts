import { shellQuoted } from "../base/text.ts"
import { Failure } from "../domain/failure.ts"
import type { UndoPlan } from "../engine/undo.ts"
import { confirm } from "./confirm.ts"
import type { CliContext } from "./context.ts"
import { defineCommand } from "./definition.ts"
import { shortId } from "./format.ts"
import { explained, keptLine, leftAlone, restoredExitCode, tellPaths } from "./restored-text.ts"
import { sessionArguments, sessionIdOf } from "./session-id.ts"
import { isInteractive } from "./terminal.ts"

export const sessionUndo = defineCommand({
  name: "session undo",
  summary: "put back what a session changed, and nothing else",
  description:
    "What is there is kept first: `acode checkpoint restore ID` brings it back. A path that somebody else may have changed\n" +
    "is asked about; where nobody can be asked it stays as it is and is named, and the exit code is 60. Another undo\n" +
    "goes on with what is left.",
  ...sessionArguments,
  flags: {
    ...sessionArguments.flags,
    preview: { kind: "boolean", summary: "only show what would be put back" },
    also: { kind: "list", value: "PATH", summary: "put this path back too, whoever changed it" },
  },
  examples: [
    { line: "acode session undo 3f2a91bc --preview", note: "look first" },
    { line: "acode session undo 3f2a91bc", note: "put it back" },
    {
      line: "acode session undo 3f2a91bc --also src/main.ts",
      note: "this file too, although it was edited since",
    },
  ],
  run: async (input, context) => {
    const { output, globals } = context
    const app = await context.service()
    const id = await sessionIdOf(app, input)
    const plan = await app.previewUndo(id)
    const { remove, write, doubts, lost } = plan
    const foreign = doubts.map(({ path }) => path)
    if (input.flags.preview) {
      if (globals.json)
        output.json({ id, remove, write, foreign, doubts, lost: lost.map(({ path }) => path) })
      tellPaths(output, {
        "would remove": remove,
        "would restore": write,
        "would ask about": doubts.map(explained),
        lost: lost.map(explained),
      })
      return 0
    }
    const undone = await app.undo(
      id,
      await agreed(
        id,
        plan,
        input.flags.also.map(path => app.recordedPath(path)),
        context,
      ),
    )
    if (globals.json)
      output.json({ id, ...undone, doubts: doubts.filter(({ path }) => undone.foreign.includes(path)) })
    tellPaths(output, {
      removed: undone.removed,
      restored: undone.restored,
      "left alone": leftAlone(undone.foreign, doubts),
      "not put back": undone.blocked.map(explained),
    })
    if (undone.foreign.length > 0)
      output.notice(`→ ${alsoCommand(id, undone.foreign)} puts that path back in any case`)
    if (undone.keptId !== null) output.notice(keptText(plan.byCommandCount, undone.keptId))
    return restoredExitCode(undone)
  },
})

/** Whoever changed a file while a command ran, it counts as the command's. */
function keptText(byCommandCount: number, keptId: string): string {
  if (byCommandCount === 0) return keptLine(keptId)
  const files = byCommandCount === 1 ? "1 file" : `${byCommandCount} files`
  return `${files} changed while a command ran; if some of these changes were yours, \`acode checkpoint restore ${keptId}\` brings them back`
}

/** The paths in doubt that a person wants back all the same, with what they held when the person was asked. */
async function agreed(
  id: string,
  { doubts, goals }: UndoPlan,
  also: readonly string[],
  context: CliContext,
): Promise<ReadonlyMap<string, string | null | undefined>> {
  const contents = new Map(goals.map(({ path, content }) => [path, content]))
  const unknown = also.find(path => !contents.has(path))
  if (unknown !== undefined) throw notChanged(id, unknown)
  const open = doubts.filter(({ path }) => !also.includes(path))
  const isYes = open.length > 0 && isInteractive(context) && (await isConfirmed(context, open))
  const paths = isYes ? [...also, ...open.map(({ path }) => path)] : also
  return new Map(paths.map(path => [path, contents.get(path)]))
}

function isConfirmed({ output }: CliContext, doubts: UndoPlan["doubts"]): Promise<boolean> {
  const lines = [
    "somebody else may have changed these since:",
    ...doubts.map(doubt => `  ${explained(doubt)}`),
  ]
  return confirm(output, lines, "put these back too? A copy of what is there is kept.")
}

function notChanged(id: string, path: string): Failure {
  return new Failure({
    kind: "usage",
    code: "ACODE-CLI-003",
    message: `the session changed no path "${path}" that could be put back`,
    where: "--also",
    hint: `\`acode session undo ${shortId(id)} --preview\` names the paths`,
  })
}

function alsoCommand(id: string, [first = "PATH"]: readonly string[]): string {
  return `\`acode session undo ${shortId(id)} --also ${shellQuoted(first)}\``
}
