import * as z from "zod/mini"
import { sha256Hex } from "../base/canonical.ts"
import { lazily } from "../base/lazy.ts"
import { exactName } from "../base/text.ts"
import { Failure } from "../domain/failure.ts"
import { writeActions } from "../domain/plan/tool-traits.ts"
import type { TextFormat } from "../workspace/contract.ts"
import type { DeclaredCall, Tool, ToolDeps } from "./contract.ts"
import { changePreview, isNoChange, type PlannedChange, preparedChanges } from "./file-changes.ts"
import { type FileState, fileState } from "./file-state.ts"
import { type CallPath, callPath, writeEffects } from "./path-effects.ts"
import { reinserted } from "./reinsertion.ts"
import { toolResult } from "./tool-result.ts"

const FileContent = lazily(() =>
  z.strictObject({ path: z.string().check(z.minLength(1)), content: z.string() }),
)

export const writeFileTool: Tool = {
  name: "write_file",
  description:
    "Writes a whole text file: creates it, or replaces all of it. Missing directories are created. " +
    "To change part of a file use modify_file.",
  schema: FileContent,
  required: ["path", "content"],
  kind: "write",
  aliases: { file_write: { path: "path", contents: "content" } },
  actions: writeActions,
  variants: {
    whole: {
      shown: "always",
      description:
        "Writes a whole text file: creates it, or replaces all of it. Missing directories are created.",
    },
    replace: { shown: "afterFailure" },
    diff: { shown: "afterFailure" },
  },
  declare: (args, deps) => {
    const { path, content } = FileContent().parse(args)
    return declareWrite(deps, callPath(deps.workspace, path), content, "write")
  },
}

/** Declares a write; `create` refuses a file that exists, `write` replaces it. */
function declareWrite(
  deps: ToolDeps,
  path: CallPath,
  content: string,
  verb: "write" | "create",
): DeclaredCall {
  return {
    effects: writeEffects(deps.workspace, path),
    effectClass: "replace",
    network: null,
    operation: `${verb} ${path.relative}`,
    prepare: async () => {
      const { relative, kind } = deps.workspace.locate(path.typed)
      if (verb === "create" && kind !== "missing") throw exists(relative)
      const before = kind === "missing" ? null : fileState(deps, path.typed)
      const text = reinserted(relative, before?.text?.shown ?? null, content)
      const after = deps.workspace.encode(text, formatOf(deps, before, text), relative)
      return preparedWrite(deps, relative, before, { text, bytes: after })
    },
  }
}

function preparedWrite(
  deps: ToolDeps,
  path: string,
  before: FileState | null,
  after: { readonly text: string; readonly bytes: Uint8Array },
) {
  const remark =
    before === null
      ? "new file"
      : before.text === null
        ? `binary or large, ${before.sizeBytes} bytes, is replaced as a whole`
        : null
  const change: PlannedChange = {
    path,
    before: before?.sha256 ?? null,
    after: after.bytes,
    undo: null,
    preview: (isWhole: boolean) =>
      changePreview(deps, { path, before: before?.text?.raw ?? null, after: after.text, remark }, isWhole),
  }
  const isSame = isNoChange(change)
  const value = {
    path,
    created: before === null,
    bytes: after.bytes.length,
    sha256: sha256Hex(after.bytes),
  }
  const did = isSame ? "unchanged" : before === null ? "created" : "replaced"
  const planned = isSame
    ? { ...change, preview: () => `${exactName(path)} (unchanged: it already has this content)\n` }
    : change
  return preparedChanges(deps.workspace, [planned], changes =>
    toolResult(deps, {
      value,
      text: `${path}: ${did}, ${value.bytes} bytes`,
      paths: [path],
      changes,
    }),
  )
}

const plain: TextFormat = { encoding: "utf-8", bom: false }

/** Keeps the encoding and the byte order mark of a file, which readers are not shown, where the new text fits. */
function formatOf({ workspace }: ToolDeps, before: FileState | null, text: string): TextFormat {
  const format = before?.text?.format ?? plain
  if (format.bom && text.startsWith("\ufeff")) return { ...format, bom: false }
  if (format.encoding !== "latin1") return format
  // Most of the file was UTF-8 already.
  if (format.isMixed === true) return plain
  try {
    workspace.encode(text, format, "")
    return format
  } catch {
    // The new text has characters that the old encoding lacks; all of it is new, so it may be UTF-8.
    return plain
  }
}

function exists(path: string): Failure {
  return new Failure({
    kind: "general",
    code: "ACODE-FS-008",
    message: `"${path}" exists already`,
    where: path,
    hint: "choose another name, or modify the file that is there",
  })
}

export const createFileTool: Tool = {
  name: "create_file",
  description:
    "Creates a new text file and fails when something of that name exists. Missing directories are created.",
  schema: FileContent,
  required: ["path", "content"],
  kind: "write",
  aliases: { file_create: { path: "path", contents: "content" } },
  actions: writeActions,
  declare: (args, deps) => {
    const { path, content } = FileContent().parse(args)
    return declareWrite(deps, callPath(deps.workspace, path), content, "create")
  },
}
