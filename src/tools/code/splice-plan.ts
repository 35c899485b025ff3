import * as z from "zod/mini"
import { lazily } from "../../base/lazy.ts"
import { quotedPath, shownPath } from "../../base/path-names.ts"
import { counted } from "../../base/text.ts"
import type { Effect } from "../../domain/effect.ts"
import { Failure } from "../../domain/failure.ts"
import { parsePlanJson } from "../../domain/plan/strict-json.ts"
import { writeActions } from "../../domain/plan/tool-traits.ts"
import type { DeclaredCall, Tool, ToolDeps } from "../contract.ts"
import { changedMeanwhile } from "../file-state.ts"
import { type CallPath, callPath, pathEffects } from "../path-effects.ts"
import { SpliceArguments } from "./splice-patch.ts"
import { preparedSplices, type SpliceStep, spliceEffects } from "./spliced-files.ts"

const Arguments = lazily(() => z.strictObject({ plan_file: z.string().check(z.minLength(1)) }))

const stepsMax = 1_000

const SpliceFile = lazily(() =>
  z.strictObject({ steps: z.array(SpliceArguments()).check(z.minLength(1), z.maxLength(stepsMax)) }),
)

export const splicePlanTool: Tool = {
  name: "splice_plan",
  description:
    'Replaces several symbols at once, in any files: all of them or none. plan_file is JSON: {"steps": [{"file", "symbol", ' +
    '"with", "kind"?}]}, each as in splice_patch; steps for the same file are made in order.',
  schema: Arguments,
  required: ["plan_file"],
  kind: "write",
  aliases: {},
  actions: writeActions,
  needsIndex: true,
  declare: (json, deps) => {
    const { plan_file: typed } = Arguments().parse(json)
    const path = callPath(deps.workspace, typed)
    return { ...declared(deps, path), effectClass: "replace", network: null }
  },
}

/** A file that cannot be used is reported after policy has allowed to read it. */
function declared(deps: ToolDeps, path: CallPath): Pick<DeclaredCall, "effects" | "operation" | "prepare"> {
  const own = pathEffects(deps.workspace, path, "read")
  const named = namedSteps(deps, path)
  if (named instanceof Failure)
    return {
      effects: own,
      operation: `replace symbols by ${path.relative}`,
      prepare: () => Promise.reject(named),
    }
  const { steps, sha256, effects } = named
  return {
    effects: [...own, ...effects],
    operation: `replace ${counted(steps.length, "symbol")} by ${path.relative}`,
    prepare: async () => {
      // The decision was about the steps that were read first.
      if (contentOf(deps, path).sha256 !== sha256) throw changedMeanwhile(path.typed)
      const read = steps.map(step => callPath(deps.workspace, step.with).relative)
      return preparedSplices(deps, steps, [path.relative, ...read])
    },
  }
}

interface NamedSteps {
  readonly steps: readonly SpliceStep[]
  readonly sha256: string
  readonly effects: readonly Effect[]
}

function namedSteps(deps: ToolDeps, path: CallPath): NamedSteps | Failure {
  try {
    const { text, sha256 } = contentOf(deps, path)
    const { value, findings } = parsePlanJson(text)
    const [finding] = findings
    if (finding !== undefined) return unusable(path, `is not usable: ${finding.message}`)
    const parsed = SpliceFile().safeParse(value)
    if (!parsed.success)
      return unusable(path, `is not usable: ${placeOf(parsed.error.issues[0]?.path ?? [])}`)
    const { steps } = parsed.data
    return { steps, sha256, effects: steps.flatMap(step => spliceEffects(deps, step)) }
  } catch (error) {
    if (error instanceof Failure) return error
    throw error
  }
}

function placeOf([list, index, member]: readonly PropertyKey[]): string {
  if (list === undefined) return "it is not an object with steps alone"
  const step = typeof index === "number" ? `step ${index + 1}` : "steps"
  return typeof member === "string" ? `${step}: ${member} is missing or wrong` : `${step} has wrong members`
}

function contentOf(deps: ToolDeps, { typed }: CallPath) {
  return deps.workspace.readText(typed, deps.limits.editBytesMax)
}

function unusable({ typed }: CallPath, what: string): Failure {
  return new Failure({
    kind: "usage",
    code: "ACODE-PAT-001",
    message: `the splice plan ${quotedPath(typed)} ${what}`,
    where: shownPath(typed),
    hint: 'write {"steps": [{"file": "…", "symbol": "…", "with": "…"}]}',
  })
}
