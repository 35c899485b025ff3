import { isAbsolute, posix } from "node:path"
import * as z from "zod/mini"
import { lazily } from "../base/lazy.ts"
import { quotedPath, shownPath } from "../base/path-names.ts"
import type { Effect } from "../domain/effect.ts"
import { Failure } from "../domain/failure.ts"
import { writeActions } from "../domain/plan/tool-traits.ts"
import type { PlacedHunk } from "../workspace/change/contract.ts"
import type { TextFormat } from "../workspace/contract.ts"
import type { DeclaredCall, Tool, ToolDeps } from "./contract.ts"
import { changePreview, isNoChange, type PlannedChange, preparedChanges } from "./file-changes.ts"
import { editedFile, type ModifiedFile, patchedFiles } from "./modified-files.ts"
import { type CallPath, callPath, pathEffects, writeEffects } from "./path-effects.ts"
import { toolResult } from "./tool-result.ts"

const Arguments = lazily(() =>
  z
    .strictObject({
      path: z.string().check(z.minLength(1)),
      edits: z.optional(
        z
          .array(z.strictObject({ search: z.string().check(z.minLength(1)), replace: z.string() }))
          .check(z.minLength(1)),
      ),
      patch: z.optional(z.string().check(z.minLength(1))),
    })
    .check(
      z.refine(isOneOfBoth, {
        error: "and patch: exactly one of them has to be given",
        path: ["edits"],
        when: () => true,
      }),
    ),
)

function isOneOfBoth(args: unknown): boolean {
  if (typeof args !== "object" || args === null) return true
  return Object.hasOwn(args, "edits") !== Object.hasOwn(args, "patch")
}

export const modifyFileTool: Tool = {
  name: "modify_file",
  description:
    "Changes part of a text file. edits: each search text must be in the file exactly once and is replaced. Or patch: " +
    "a unified diff of this file; with a directory as path, of any files below it, all of them or none.",
  schema: Arguments,
  required: ["path"],
  kind: "write",
  aliases: {},
  actions: writeActions,
  variants: {
    whole: { shown: "never" },
    replace: {
      shown: "always",
      description:
        "Changes parts of a text file: each search text must be in the file exactly once, and is replaced.",
      arguments: ["path", "edits"],
    },
    diff: {
      shown: "always",
      description:
        "Changes a text file by a unified diff of it; with a directory as path, any files below it, all of them or none. " +
        "Each hunk starts with an @@ line, needs no numbers, and has enough lines around the change to fit at one place only.",
      arguments: ["path", "patch"],
    },
  },
  declare: (json, deps) => {
    const { path: typed, edits, patch } = Arguments().parse(json)
    const path = callPath(deps.workspace, typed)
    if (edits !== undefined)
      return declared(deps, [{ path, action: "modify" }], () => [editedFile(deps, path, edits)])
    const onlyPath = path.kind === "directory" ? null : plainPath(path)
    const targets = deps.changes.patchedFiles(patch ?? "", onlyPath).map(({ path: named, action }) => ({
      path: onlyPath === null ? callPath(deps.workspace, below(path.relative, named)) : path,
      named,
      action,
    }))
    return declared(deps, targets, () => patchedFiles(deps, patch ?? "", onlyPath, targets))
  },
}

/**
 * Joins a path of a patch to the directory. An absolute path stays as it is and the workspace refuses it; joined, it
 * would silently name another file.
 */
function below(directory: string, named: string): string {
  return isAbsolute(named) ? named : posix.join(directory, named)
}

/** Returns the path as the headers of a patch name it. */
function plainPath({ typed, relative }: CallPath): string {
  return isAbsolute(typed) ? relative : posix.normalize(typed)
}

interface Target {
  readonly path: CallPath
  readonly action: "modify" | "create" | "delete"
}

function declared(
  deps: ToolDeps,
  targets: readonly Target[],
  modify: () => readonly ModifiedFile[],
): DeclaredCall {
  const effects = targets.flatMap(target => effectsOf(deps, target))
  const names = [...new Set(targets.map(({ path }) => path.relative))]
  return {
    effects,
    effectClass: "replace",
    network: null,
    operation: `modify ${names.join(", ")}`,
    prepare: async () => {
      const files = modify()
      const planned = files.map(file => plannedChange(deps, file))
      return preparedChanges(deps.workspace, planned, changes =>
        toolResult(deps, {
          value: { files: files.map(fileValue) },
          text: files.map((file, index) => fileText(file, planned[index])).join("\n"),
          paths: files.map(({ path }) => path),
          changes,
        }),
      )
    },
  }
}

function effectsOf({ workspace }: ToolDeps, { path, action }: Target): Effect[] {
  switch (action) {
    case "create":
      return writeEffects(workspace, path)
    case "delete":
      return [...pathEffects(workspace, path, "read"), ...pathEffects(workspace, path, "delete")]
    case "modify":
      return [...pathEffects(workspace, path, "read"), ...writeEffects(workspace, path)]
  }
}

function plannedChange(deps: ToolDeps, file: ModifiedFile): PlannedChange {
  const { path, before, after } = file
  const format = formatAfter(file)
  if (before !== null && after !== null && format.isMixed === true)
    refuseNewCharacters(path, before.text, after)
  const change = {
    path,
    before: before?.sha256 ?? null,
    after: after === null ? null : deps.workspace.encode(after, format, path),
    undo: before?.bytes ?? null,
  }
  const remark = before === null ? "new file" : after === null ? "deleted" : markRemark(before.format, format)
  const told = isNoChange(change) ? "unchanged" : remark
  const preview = (isWhole: boolean) =>
    changePreview(deps, { path, before: before?.text ?? null, after, remark: told }, isWhole)
  return { ...change, preview }
}

/** Keeps the byte order mark of a file in UTF-16, which could not be read without it. */
function formatAfter({ before, hasMark }: ModifiedFile): TextFormat {
  if (before === null) return { encoding: "utf-8", bom: hasMark }
  return before.format.encoding === "utf-8" ? { ...before.format, bom: hasMark } : before.format
}

function markRemark(before: TextFormat, after: TextFormat): string | null {
  if (before.bom === after.bom) return null
  return after.bom ? "with a byte order mark now" : "without its byte order mark now"
}

/** Refuses a new character in a file that is UTF-8 except for some bytes: its encoding is unknown. */
function refuseNewCharacters(path: string, before: string, after: string): void {
  const known = new Set(before.match(beyondAscii))
  const added = after.match(beyondAscii)?.find(characters => !known.has(characters))
  if (added === undefined) return
  throw new Failure({
    kind: "general",
    code: "ACODE-FS-009",
    message: `${quotedPath(path)} is neither UTF-8 nor another encoding throughout, so "${added}" cannot be added`,
    where: shownPath(path),
    hint: "change it with ASCII characters only, or write the whole file, which becomes UTF-8",
  })
}

const beyondAscii = /[\u0080-\uffff]+/g

function fileValue({ path, before, after, hunks }: ModifiedFile) {
  return {
    path,
    created: before === null,
    deleted: after === null,
    hunks: hunks.map(({ line, offset, fuzz }) => ({ line, offset, fuzz })),
  }
}

function fileText({ path, before, after, hunks }: ModifiedFile, planned: PlannedChange | undefined): string {
  if (before === null) return `${path}: created`
  if (after === null) return `${path}: deleted`
  if (planned !== undefined && isNoChange(planned)) return `${path}: unchanged: it already has this content`
  return `${path}: changed at ${hunks.map(hunkText).join(", ")}`
}

function hunkText({ line, offset, fuzz }: PlacedHunk): string {
  const moved = offset === 0 ? "" : ` (${offset > 0 ? "+" : ""}${offset} from where the patch says)`
  return `line ${line}${moved}${fuzz === 0 ? "" : ` (${fuzz} lines of context ignored)`}`
}
