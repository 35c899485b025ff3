import { printable } from "../base/text.ts"
import { Failure } from "../domain/failure.ts"

/** What an id names, in the words a person is told. */
export interface RecordedKind {
  readonly one: string
  readonly many: string
  /** The command that shows the ids. */
  readonly listing: string
  /** The code of an id that names nothing, where it is not the general one. */
  readonly unknownCode?: string
}

export const recorded = {
  execution: { one: "execution", many: "executions", listing: "acode runs list" },
  session: { one: "session", many: "sessions", listing: "acode session list" },
  approval: {
    one: "approval",
    many: "approvals",
    listing: "acode approvals list --all",
    unknownCode: "ACODE-APPR-001",
  },
  evidence: { one: "evidence", many: "rows of evidence", listing: "acode evidence failures" },
} as const satisfies Record<string, RecordedKind>

/** The one thing a person means by an id, its beginning or its end. Null stands for a history without anything. */
export function idOf(
  history: { matching(typed: string): readonly string[] } | null,
  typed: string,
  kind: RecordedKind,
): string {
  // Every id ends with nothing: an empty word would mean any of them.
  const found = typed === "" ? [] : (history?.matching(typed) ?? [])
  const [first] = found
  if (found.length === 1 && first !== undefined) return first
  if (found.length === 0)
    throw new Failure({
      kind: "usage",
      code: kind.unknownCode ?? "ACODE-CLI-004",
      message: `no ${kind.one} has the id "${printable(typed)}"`,
      hint: `\`${kind.listing}\` shows the ids`,
    })
  throw new Failure({
    kind: "usage",
    code: "ACODE-CLI-005",
    message: `"${printable(typed)}" fits ${found.length} ${kind.many}: ${found.slice(0, 4).join(", ")}${found.length > 4 ? ", …" : ""}`,
    hint: "type more of the id",
  })
}
