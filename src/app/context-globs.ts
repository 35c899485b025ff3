import { printable } from "../base/text.ts"
import { Failure } from "../domain/failure.ts"
import type { PipelineSettings } from "../domain/pipeline/settings.ts"
import type { Workspace } from "../workspace/contract.ts"

/**
 * Looks at what `--context-files` names before anything has begun. A glob that can name nothing here is a mistake; one
 * that names nothing yet may be meant so, and is told; not again when the session goes on.
 */
export function checkContextGlobs(
  workspace: Pick<Workspace, "glob">,
  { contextFiles: globs }: PipelineSettings,
  before: PipelineSettings | undefined,
  notice: (text: string) => void,
): void {
  for (const pattern of globs)
    if (!before?.contextFiles.includes(pattern) && isEmpty(workspace, pattern))
      notice(`--context-files ${printable(pattern)} matches no file of the workspace`)
}

function isEmpty(workspace: Pick<Workspace, "glob">, pattern: string): boolean {
  try {
    return workspace.glob({ pattern, path: ".", matchesMax: 1 }).paths.length === 0
  } catch (error) {
    if (!(error instanceof Failure)) throw error
    throw new Failure(
      {
        kind: "usage",
        code: "ACODE-CLI-002",
        message: `--context-files: ${error.report.message}`,
        where: `--context-files ${printable(pattern)}`,
        hint: "write a pattern of names below the workspace, such as 'src/**/*.ts'",
      },
      { cause: error },
    )
  }
}
