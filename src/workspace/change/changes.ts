import type { TextChanges } from "./contract.ts"
import { countChanges, diffTexts, unifiedDiff } from "./diff.ts"
import { applyEdits } from "./edits.ts"
import { applyPatch } from "./patch-apply.ts"
import { parsePatch } from "./patch-parse.ts"

export const textChanges: TextChanges = {
  applyEdits,
  applyPatch: (patch, onlyPath, read) => applyPatch(parsePatch(patch, onlyPath), read),
  patchedFiles: (patch, onlyPath) =>
    parsePatch(patch, onlyPath).map(({ path, action }) => ({ path, action })),
  countChanges,
  diffTexts,
  unifiedDiff,
}
