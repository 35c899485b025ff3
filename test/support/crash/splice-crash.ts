import { file, planWithTrees, type TreeChange } from "../plan/every-tool-plan.ts"
import { readFileTree } from "../workspace/file-tree.ts"
import type { SavedWorkspace } from "../workspace/saved-workspace.ts"
import { crashPlanRun, type Points } from "./plan-crash.ts"

/** A tree has each byte as one character. */
const text = (content: string, mode?: number) => file(Buffer.from(content).toString("latin1"), mode)

/** No word in these files stands in a comment or a string, so a search for it is what the index has to answer. */
const before: TreeChange = {
  "src/alpha.ts": text(
    "import { beta } from './beta'\r\n\r\nexport function alpha() {\r\n  return beta()\r\n}\r\n",
  ),
  "src/beta.ts": text(
    "export function beta() {\n  return 1\n}\n\nexport class Gamma {\n  own() {\n    return beta()\n  }\n}\n",
  ),
  "src/delta.py": text("\ufeffdef delta(größe):\n    return größe\n", 0o755),
  "new/alpha.ts": text("export function alpha() {\n  return beta() + beta()\n}\n"),
  "new/own.ts": text("own() {\n  return delta\n}\n"),
  "new/delta.py": text("def delta(größe):\n    beta(größe)\n    return größe\n"),
  "new/list.json": text(
    JSON.stringify({
      steps: [
        { file: "src/beta.ts", symbol: "Gamma.own", with: "new/own.ts" },
        { file: "src/delta.py", symbol: "delta", with: "new/delta.py" },
      ],
    }),
  ),
}

const splicePlan = planWithTrees("splices", before, [
  { tool: "symbols_in_file", arguments: { path: "src/alpha.ts" }, changes: {} },
  {
    tool: "splice_patch",
    arguments: { file: "src/alpha.ts", symbol: "alpha", with: "new/alpha.ts" },
    changes: {
      "src/alpha.ts": text(
        "import { beta } from './beta'\r\n\r\nexport function alpha() {\r\n  return beta() + beta()\r\n}\r\n",
      ),
    },
  },
  { tool: "references_to_symbol_name", arguments: { name: "beta" }, changes: {} },
  {
    tool: "splice_plan",
    arguments: { plan_file: "new/list.json" },
    changes: {
      "src/beta.ts": text(
        "export function beta() {\n  return 1\n}\n\nexport class Gamma {\n  own() {\n    return delta\n  }\n}\n",
      ),
      "src/delta.py": text("\ufeffdef delta(größe):\n    beta(größe)\n    return größe\n", 0o755),
    },
  },
  {
    tool: "references_from_file_to_symbol_name",
    arguments: { path: "src/delta.py", name: "größe" },
    changes: {},
  },
])

/** Dies in a plan that replaces symbols and asks the index: every file is old or new, and the index answers so. */
export function crashSplices(points: Points) {
  return crashPlanRun(points, splicePlan, indexViolations)
}

/**
 * The index after a crash, held against a search of the files as they are. The first answer may say that it knows only
 * a part, because it waits for a busy machine no longer than for two seconds; after an update there is no such excuse.
 */
async function indexViolations({ workspace, acode }: SavedWorkspace): Promise<readonly string[]> {
  const found: string[] = []
  const compare = async (name: string, mayBeStale: boolean) => {
    const { exitCode, stdout, stderr } = await acode(["refs", name, "--json"])
    if (exitCode !== 0) return found.push(`refs ${name} exits ${exitCode}: ${stderr}`)
    const { rows, stale } = JSON.parse(stdout) as Answer
    const answered = rows.map(row => `${row.from_file_path}:${row.line}`)
    const expected = linesWith(workspace.root, name)
    const isPart = answered.every(place => expected.includes(place))
    const isAll = isPart && answered.length === expected.length
    if (!(isAll || (isPart && stale && mayBeStale)))
      found.push(`refs ${name} says ${answered}, and the files say ${expected} (stale: ${stale})`)
    return stale
  }
  const isStale = await compare("beta", true)
  const update = isStale === true ? await acode(["index"]) : null
  if (update !== null && update.exitCode !== 0) found.push(`index exits ${update.exitCode}: ${update.stderr}`)
  for (const name of ["delta", "größe"]) await compare(name, false)
  return found
}

interface Answer {
  readonly rows: readonly { readonly from_file_path: string; readonly line: number }[]
  readonly stale: boolean
}

function linesWith(root: string, name: string): string[] {
  return [...readFileTree(root)].flatMap(([path, { content }]) =>
    path.endsWith(".json")
      ? []
      : Buffer.from(content, "latin1")
          .toString()
          .split("\n")
          .flatMap((line, index) =>
            line.split(/[^\p{L}\p{N}_./]+/u).flatMap(word => (word === name ? [`${path}:${index + 1}`] : [])),
          ),
  )
}
