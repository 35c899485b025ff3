import type { Json } from "../../base/canonical.ts"
import { onceFor } from "../../base/lazy.ts"
import type { EditFormat } from "../../domain/model-choice.ts"
import { finishTool } from "../../domain/pipeline/claim.ts"
import type { Turn, TurnCall } from "../../domain/pipeline/state.ts"
import type { ToolDescription } from "../../provider/contract.ts"

/** A model whose way to edit is known is offered that way only: a choice is one more thing to get wrong. */
export interface EditTools {
  /** The tools of a step as this model is told about them, without those it is not to use. */
  offered(step: StepTools): readonly ToolDescription[]
  /** The call that has made the whole file the way to go on, which is said behind its result. */
  remarked(turns: readonly Turn[]): TurnCall | null
}

interface StepTools {
  readonly tools: readonly ToolDescription[]
  /** The plan says that a whole file is to be written. */
  readonly writesWhole: boolean
  readonly turns: readonly Turn[]
}

/** Null is a model of which nothing is known: it is offered everything, in every form. */
export function editTools(format: EditFormat | null): EditTools {
  return format === null ? anyFormat : byFormat[format]
}

const anyFormat: EditTools = { offered: ({ tools }) => tools, remarked: () => null }

const wholeOnly = described({ modify_file: null, write_file: wholeFile })

const byFormat: Readonly<Record<EditFormat, EditTools>> = {
  whole: { offered: ({ tools }) => wholeOnly(tools), remarked: () => null },
  replace: piecewise({
    description:
      "Changes parts of a text file: each search text must be in the file exactly once, and is replaced.",
    argument: "edits",
  }),
  diff: piecewise({
    description:
      "Changes a text file by a unified diff of it; with a directory as path, any files below it, all of them or none. " +
      "Each hunk starts with an @@ line, needs no numbers, and has enough lines around the change to fit at one place only.",
    argument: "patch",
  }),
}

interface Form {
  readonly description: string
  /** The only argument it takes besides the path. */
  readonly argument: string
}

/** Pieces until one of them could not be applied; from then on, also the whole file. */
function piecewise({ description, argument }: Form): EditTools {
  const modify = (tool: ToolDescription) => ({
    ...{ name: tool.name, description },
    parameters: withOnly(tool.parameters, ["path", argument]),
  })
  const pieces = described({ modify_file: modify, write_file: null })
  const all = described({ modify_file: modify })
  return {
    offered: ({ tools, writesWhole, turns }) =>
      writesWhole || firstFailure(turns) !== null ? all(tools) : pieces(tools),
    remarked: firstFailure,
  }
}

export const fallbackRemark =
  "\n[write_file is offered from now on: if this edit does not work, read the file and write all of it]"

const editing: ReadonlySet<string> = new Set(["modify_file", "create_file"])

/** Only what did not work: what a person or a rule did not allow is no question of the format. */
function firstFailure(turns: readonly Turn[]): TurnCall | null {
  for (const { calls } of turns) {
    const failed = calls.find(({ tool, result }) => editing.has(tool) && result?.outcome === "failed")
    if (failed !== undefined) return failed
  }
  return null
}

function wholeFile(tool: ToolDescription): ToolDescription {
  const description =
    "Writes a whole text file: creates it, or replaces all of it. Missing directories are made."
  return { ...tool, description }
}

type Change = ((tool: ToolDescription) => ToolDescription) | null

/** Tools told differently, or with null not at all. Each list is made once, so that it is also measured once. */
function described(changes: Readonly<Record<string, Change>>) {
  return onceFor((tools: readonly ToolDescription[]): readonly ToolDescription[] =>
    tools.flatMap(tool => {
      const change = changes[tool.name]
      if (change === undefined) return [tool]
      return change === null ? [] : [change(tool)]
    }),
  )
}

function withOnly(schema: Json, names: readonly string[]): Json {
  if (!isObject(schema) || !isObject(schema["properties"])) return schema
  const properties = Object.entries(schema["properties"]).filter(([name]) => names.includes(name))
  return { ...schema, properties: Object.fromEntries(properties), required: names }
}

function isObject(value: Json | undefined): value is { readonly [name: string]: Json } {
  return typeof value === "object" && value !== null && !Array.isArray(value)
}

/** Offered only where there are skills. */
export const skillTool = "use_skill"
const reading = ["read_file", "list_directory", "search_code", "glob", skillTool]
const writing = ["write_file", "create_file", "modify_file"]

/** Everything an executor may ever call. */
export const allStepTools: readonly string[] = [
  ...reading,
  ...writing,
  "delete_file",
  "run_command",
  finishTool,
]

const write = [...reading, ...writing, "run_command", finishTool]

const byAction: Readonly<Record<string, readonly string[]>> = {
  READ_FILE: [...reading, finishTool],
  ANALYZE_CODE: [...reading, finishTool],
  RUN_COMMAND: [...reading, "run_command", finishTool],
  WRITE_FILE: write,
  MODIFY_FILE: write,
  CREATE_FILE: write,
  CREATE_DIRECTORY: write,
  DELETE_FILE: [...reading, "delete_file", "run_command", finishTool],
}

/** What a step of this action is offered. A step that generates or mends code may need all of them. */
export function toolsForAction(action: string | null): readonly string[] {
  return (action === null ? undefined : byAction[action]) ?? allStepTools
}
