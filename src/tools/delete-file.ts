import * as z from "zod/mini"
import { lazily } from "../base/lazy.ts"
import { nameOf, parentOf } from "../base/path-names.ts"
import { exactName } from "../base/text.ts"
import type { FileChange } from "../domain/tool-call.ts"
import type { DeletedEntry } from "../workspace/contract.ts"
import type { Tool, ToolRoom } from "./contract.ts"
import { changedMeanwhile, fileState } from "./file-state.ts"
import { type CallPath, callPath, pathEffects } from "./path-effects.ts"
import { toolResult } from "./tool-result.ts"

const Arguments = lazily(() =>
  z.strictObject({ paths: z.array(z.string().check(z.minLength(1))).check(z.minLength(1)) }),
)

export const deleteFileTool: Tool = {
  name: "delete_file",
  description:
    "Deletes files. Symlinks are removed themselves, not what they point to; directories are not deleted. " +
    "Either all of the paths can be deleted, or none is.",
  schema: Arguments,
  required: ["paths"],
  kind: "delete",
  aliases: {},
  actions: ["DELETE_FILE", "GENERATE_CODE"],
  declare: (json, room) => {
    const paths = [...new Set(Arguments().parse(json).paths)].map(path => callPath(room.workspace, path))
    return {
      effects: paths.flatMap(path => pathEffects(room.workspace, path, "delete")),
      effectClass: "replace",
      network: null,
      operation: `delete ${paths.map(({ typed }) => typed).join(", ")}`,
      prepare: async () => {
        const targets = paths.map(path => target(room, path))
        return {
          targets,
          subject: { argv: [], cwd: ".", environment: {} },
          preview: targets
            .map(({ path, before }) => `delete ${exactName(path)} (${exactName(before ?? "")})`)
            .join("\n"),
          execute: async () => {
            refuseChanged(
              targets,
              paths.map(path => target(room, path)),
            )
            return deleted(room, room.workspace.delete(paths.map(({ typed }) => typed)))
          },
        }
      },
    }
  },
}

/** What will be gone. The path is that of the entry: a symlink is deleted, not followed. */
function target(room: ToolRoom, { typed }: CallPath): FileChange {
  const { relative, kind } = room.workspace.locate(typed)
  const parent = room.workspace.locate(parentOf(typed)).relative
  const path = parent === "." ? nameOf(typed) : `${parent}/${nameOf(typed)}`
  const link = path === relative && kind === "file" ? null : linkAt(room, path)
  const before = link === null ? fileState(room, typed).sha256 : `link:${link}`
  return { path, before, after: null }
}

/** Where the symlink of this name points, or null when there is none. */
function linkAt({ workspace }: ToolRoom, path: string): string | null {
  const { entries } = workspace.list({ path: parentOf(path), depth: 1, entriesMax: entriesLookedAt })
  return entries.find(entry => entry.path === path && entry.kind === "symlink")?.target?.text ?? null
}

/** A directory is read whole to find one name in it. */
const entriesLookedAt = 1_000_000

function refuseChanged(before: readonly FileChange[], now: readonly FileChange[]): void {
  const changed = now.find((change, index) => change.before !== before[index]?.before)
  if (changed !== undefined) throw changedMeanwhile(changed.path)
}

function deleted(room: ToolRoom, entries: readonly DeletedEntry[]) {
  const paths = entries.map(({ path }) => path)
  return toolResult(room, {
    value: { deleted: paths },
    text: `deleted ${paths.join(", ")}`,
    paths,
    changes: entries.map(({ path, beforeSha256, symlinkTarget }) => ({
      path,
      before: symlinkTarget === null ? beforeSha256 : `link:${symlinkTarget}`,
      after: null,
    })),
  })
}
