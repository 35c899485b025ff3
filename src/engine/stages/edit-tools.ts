import type { Json } from "../../base/canonical.ts"
import { onceFor } from "../../base/lazy.ts"
import type { EditFormat } from "../../domain/model-choice.ts"
import { finishTool } from "../../domain/pipeline/claim.ts"
import type { Turn, TurnCall } from "../../domain/pipeline/state.ts"
import { type ToolVariant, toolsForAction, toolsOfKind, toolTraits } from "../../domain/plan/tool-traits.ts"
import type { ToolDescription } from "../../provider/contract.ts"

/** A model whose edit format is known is offered only that format: a choice is one more thing to get wrong. */
export interface EditTools {
  /** Returns the tools of a step, described for this model, without those that it should not use. */
  offered(step: StepTools): readonly ToolDescription[]
  /** Returns the failed edit behind whose result the model is offered to write the whole file. */
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

const byFormat: Readonly<Record<EditFormat, EditTools>> = {
  whole: editToolsOf("whole"),
  replace: editToolsOf("replace"),
  diff: editToolsOf("diff"),
}

/** Offers the tools of one edit format; once an edit has failed, also those that are shown after a failure. */
function editToolsOf(format: EditFormat): EditTools {
  const variants = [...toolTraits].map(([name, traits]) => [name, traits.variants?.[format]] as const)
  const fallbacks = variants.flatMap(([name, variant]) => (variant?.shown === "afterFailure" ? [name] : []))
  const first = described(new Map(variants), ["always"])
  if (fallbacks.length === 0) return { offered: ({ tools }) => first(tools), remarked: () => null }
  const all = described(new Map(variants), ["always", "afterFailure"])
  const edits = new Set([...toolsOfKind("write")].filter(name => !fallbacks.includes(name)))
  const firstFailure = (turns: readonly Turn[]) => failedCall(turns, edits)
  return {
    offered: ({ tools, writesWhole, turns }) =>
      writesWhole || firstFailure(turns) !== null ? all(tools) : first(tools),
    remarked: firstFailure,
  }
}

export const fallbackRemark =
  "\n[write_file is offered from now on: if this edit does not work, read the file and write all of it]"

/** Returns the first edit that failed. One that was refused says nothing about the format. */
function failedCall(turns: readonly Turn[], edits: ReadonlySet<string>): TurnCall | null {
  for (const { calls } of turns) {
    const failed = calls.find(({ tool, result }) => edits.has(tool) && result?.outcome === "failed")
    if (failed !== undefined) return failed
  }
  return null
}

/** Returns the tools that are shown, as this format describes them. Each list is made and measured only once. */
function described(
  variants: ReadonlyMap<string, ToolVariant | undefined>,
  shown: readonly ToolVariant["shown"][],
) {
  return onceFor((tools: readonly ToolDescription[]): readonly ToolDescription[] =>
    tools.flatMap(tool => {
      const variant = variants.get(tool.name)
      if (variant === undefined) return [tool]
      return shown.includes(variant.shown) ? [withVariant(tool, variant)] : []
    }),
  )
}

function withVariant(tool: ToolDescription, { description, arguments: names }: ToolVariant): ToolDescription {
  return {
    name: tool.name,
    description: description ?? tool.description,
    parameters: names === undefined ? tool.parameters : withOnly(tool.parameters, names),
  }
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

/** Returns what a model may call in a step of this action: its tools, and the one that ends the step. */
export function callsForAction(action: string | null): readonly string[] {
  return [...toolsForAction(action), finishTool]
}
