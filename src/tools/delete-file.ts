import * as z from "zod/mini"
import { lazily } from "../base/lazy.ts"
import { nameOf, parentOf } from "../base/path-names.ts"
import { exactName } from "../base/text.ts"
import type { FileChange } from "../domain/tool-call.ts"
import type { DeletedEntry } from "../workspace/contract.ts"
import type { Tool, ToolDeps } from "./contract.ts"
import { changedMeanwhile, fileState } from "./file-state.ts"
import { type CallPath, callPath, pathEffects } from "./path-effects.ts"
import { toolResult } from "./tool-result.ts"

const Arguments = lazily(() =>
  z.strictObject({ paths: z.array(z.string().check(z.minLength(1))).check(z.minLength(1)) }),
)

export const deleteFileTool: Tool = {
  name: "delete_file",
  description:
    "Deletes files. A symlink is removed, not its target; directories are not deleted. " +
    "Either all of the paths can be deleted, or none is.",
  schema: Arguments,
  required: ["paths"],
  kind: "delete",
  aliases: {},
  actions: ["DELETE_FILE", "GENERATE_CODE"],
  declare: (json, deps) => {
    const paths = [...new Set(Arguments().parse(json).paths)].map(path => callPath(deps.workspace, path))
    return {
      effects: paths.flatMap(path => pathEffects(deps.workspace, path, "delete")),
      effectClass: "replace",
      network: null,
      operation: `delete ${paths.map(({ typed }) => typed).join(", ")}`,
      prepare: async () => {
        const targets = paths.map(path => target(deps, path))
        return {
          targets,
          subject: { argv: [], cwd: ".", environment: {} },
          preview: targets
            .map(({ path, before }) => `delete ${exactName(path)} (${exactName(before ?? "")})`)
            .join("\n"),
          execute: async () => {
            refuseChanged(
              targets,
              paths.map(path => target(deps, path)),
            )
            return deleted(deps, deps.workspace.delete(paths.map(({ typed }) => typed)))
          },
        }
      },
    }
  },
}

/** Returns the change that deletes a path. The path is that of the entry: a symlink is deleted, not its target. */
function target(deps: ToolDeps, { typed }: CallPath): FileChange {
  const { relative, kind } = deps.workspace.locate(typed)
  const parent = deps.workspace.locate(parentOf(typed)).relative
  const path = parent === "." ? nameOf(typed) : `${parent}/${nameOf(typed)}`
  const link = path === relative && kind === "file" ? null : linkAt(deps, path)
  const before = link === null ? fileState(deps, typed).sha256 : `link:${link}`
  return { path, before, after: null }
}

/** Returns the target of the symlink of this name, or null without such a symlink. */
function linkAt({ workspace }: ToolDeps, path: string): string | null {
  const { entries } = workspace.list({ path: parentOf(path), depth: 1, entriesMax: entriesLookedAt })
  return entries.find(entry => entry.path === path && entry.kind === "symlink")?.target?.text ?? null
}

/** The most entries of a directory that are read to find one name. */
const entriesLookedAt = 1_000_000

function refuseChanged(before: readonly FileChange[], now: readonly FileChange[]): void {
  const changed = now.find((change, index) => change.before !== before[index]?.before)
  if (changed !== undefined) throw changedMeanwhile(changed.path)
}

function deleted(deps: ToolDeps, entries: readonly DeletedEntry[]) {
  const paths = entries.map(({ path }) => path)
  return toolResult(deps, {
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
