import type { Precondition } from "./plan.ts"

/** Every spelling, in small letters with single blanks. The older ones come from plans for other tools. */
const spellings: ReadonlyMap<string, Precondition> = new Map([
  ["none", "none"],
  ["", "none"],
  ["file exists", "file_exists"],
  ["file present", "file_exists"],
  ["project exists", "project_exists"],
  ["cargo project exists", "project_exists"],
  ["cargo workspace exists", "project_exists"],
  ["index exists", "index_exists"],
  ["codegraph.db exists", "index_exists"],
  ["symbol exists", "symbol_exists"],
  ["root exists", "root_exists"],
])

/** What is meant, or null for what is not on the list: an unknown condition must not pass as no condition. */
export function readPrecondition(written: string | null | undefined): Precondition | null {
  const normal = (written ?? "")
    .replace(/[\s_]+/g, " ")
    .trim()
    .toLowerCase()
  return spellings.get(normal) ?? null
}
