import { printable } from "../../base/text.ts"
import { Failure } from "../../domain/failure.ts"

const patchFailures = {
  malformed: {
    code: "ACODE-PAT-001",
    hint: "send a unified diff with @@ lines, or edits with search and replace",
  },
  differs: { code: "ACODE-PAT-002", hint: "read the file again and repeat the change on its new content" },
  unsupported: { code: "ACODE-PAT-003", hint: "write the new file and delete the old one instead" },
  ambiguous: { code: "ACODE-PAT-004", hint: "include more of the lines around the change" },
  wrongTarget: { code: "ACODE-PAT-005", hint: "check whether the file is to be made, changed or deleted" },
} as const

export type PatchFailureKind = keyof typeof patchFailures

export function patchFailure(kind: PatchFailureKind, where: string, message: string): Failure {
  const { code, hint } = patchFailures[kind]
  return new Failure({ kind: "general", code, message: printable(message), where: printable(where), hint })
}
