import type { EditFormat } from "../model-choice.ts"
import table from "./tool-traits.json" with { type: "json" }

/** The actions of open plan steps. */
export const stepActions = [
  "READ_FILE",
  "WRITE_FILE",
  "MODIFY_FILE",
  "CREATE_FILE",
  "DELETE_FILE",
  "CREATE_DIRECTORY",
  "RUN_COMMAND",
  "ANALYZE_CODE",
  "GENERATE_CODE",
] as const
export type StepAction = (typeof stepActions)[number]

/** The actions whose steps may write files. */
export const writeActions: readonly StepAction[] = [
  "WRITE_FILE",
  "MODIFY_FILE",
  "CREATE_FILE",
  "CREATE_DIRECTORY",
  "GENERATE_CODE",
]

/** A tool reads one file, finds files, lines or skills, writes files, deletes files, or runs a program. */
export type ToolKind = "read" | "find" | "write" | "delete" | "run"

/** Holds what the program has to know about a tool before it calls it. Each tool declares it in its own file. */
export interface ToolTraits {
  readonly kind: ToolKind
  /** The names of the tool in plan files. Each maps its arguments, all of them required, to those of the tool. */
  readonly aliases: Readonly<Record<string, Readonly<Record<string, string>>>>
  /** The actions of open steps that offer the tool to a model. */
  readonly actions: readonly StepAction[]
  /** Set where the tool is offered to models only in a workspace with a code index. */
  readonly needsIndex?: true
  /** Holds the descriptions for models that edit files in only one format, where they differ. */
  readonly variants?: Readonly<Record<EditFormat, ToolVariant>>
}

export interface ToolVariant {
  /** A tool that is shown after a failure is offered once an edit in the model's format has failed. */
  readonly shown: "always" | "never" | "afterFailure"
  readonly description?: string
  /** The only arguments that are described, all of them required. */
  readonly arguments?: readonly string[]
}

/**
 * Holds the traits of all tools by name, in the order of the registry. `npm run docs` writes the JSON from the
 * registry, because `domain` imports no tools, and `npm run check` fails where the two differ.
 */
export const toolTraits: ReadonlyMap<string, ToolTraits> = new Map(
  // as: the file was written from values of this type.
  Object.entries(table as Readonly<Record<string, ToolTraits>>),
)

/** Returns the names of all tools of these kinds, their names in plan files included. */
export function toolsOfKind(...kinds: readonly ToolKind[]): ReadonlySet<string> {
  return new Set(
    [...toolTraits].flatMap(([name, { kind, aliases }]) =>
      kinds.includes(kind) ? [name, ...Object.keys(aliases)] : [],
    ),
  )
}

/** Holds the names of the tools that are offered only in a workspace with a code index. */
export const indexTools: ReadonlySet<string> = new Set(
  [...toolTraits].flatMap(([name, { needsIndex }]) => (needsIndex === true ? [name] : [])),
)

/** Returns the tools that a step of this action offers. Null, or an action that no plan file can name, offers all. */
export function toolsForAction(action: string | null): readonly string[] {
  const isNamed = stepActions.some(each => each === action)
  return [...toolTraits].flatMap(([name, { actions }]) => {
    const isOffered = isNamed ? actions.some(each => each === action) : actions.length > 0
    return isOffered ? [name] : []
  })
}
