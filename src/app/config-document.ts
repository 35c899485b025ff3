import { oneLine } from "../base/text.ts"
import { type Leaves, leavesOf } from "./config-keys.ts"
import type { ConfigProblem } from "./config-problem.ts"
import { validateDocument } from "./config-validation.ts"
import { readYaml } from "./yaml.ts"

/** What the text of a file says, or everything that is wrong with it; `source` is the file's name for people. */
export type CheckedText =
  | { readonly leaves: Leaves; readonly problems: readonly [] }
  | { readonly leaves: null; readonly problems: readonly ConfigProblem[] }

/** Reads and validates one file. Loads the YAML parser and the schemas, so it is imported only when a file exists. */
export async function checkConfigText(text: string, source: string): Promise<CheckedText> {
  const read = readYaml(text)
  if ("problems" in read) {
    const problems = read.problems.map(({ kind, message, line, column }) => {
      const code = kind === "tooLarge" ? "ACODE-CFG-004" : "ACODE-CFG-002"
      return { code, source, line, column, key: "", message, allowed: null } as const
    })
    return { leaves: null, problems }
  }
  const { value, placeOf } = read.tree
  // Nothing, or nothing but comments: a file that says nothing has nothing wrong with it.
  if (value === null) return { leaves: new Map(), problems: [] }
  const found = await validateDocument(value)
  const problems = found.map(({ path, what, message, allowed }) => {
    const key = dotted(path)
    return { code: "ACODE-CFG-003", source, ...placeOf(path, what), key, message, allowed } as const
  })
  return problems.length > 0 ? { leaves: null, problems } : { leaves: leavesOf(value), problems: [] }
}

/** `execution.readable_paths[2]`; foreign names are cut and made safe to print. */
function dotted(path: readonly (string | number)[]): string {
  return path
    .map(part => (typeof part === "number" ? `[${part}]` : `.${oneLine(part, 60)}`))
    .join("")
    .replace(/^\./, "")
}
