import * as z from "zod/mini"
import { assert } from "../base/assert.ts"
import type { Json } from "../base/canonical.ts"
import { lazily } from "../base/lazy.ts"
import { nearest } from "../base/text.ts"
import type { Tool } from "./contract.ts"
import { type ArgumentRules, toolTable } from "./registry.ts"

export type ResolvedTool =
  | KnownTool
  | { readonly kind: "unavailable"; readonly reason: string }
  | {
      readonly kind: "unknown" /** What was probably meant, or null. */
      readonly nearest: string | null
    }

/** A tool as it was named. The schema is that of the name: a plan name has arguments of its own. */
export interface KnownTool extends ArgumentRules {
  readonly kind: "tool"
  readonly tool: Tool
  /** Arguments that fit the schema of the name, under the names the tool knows. The values are passed on untouched. */
  rename(args: Json): Json
}

/** The one way from a name that somebody wrote to a tool. */
export function resolveTool(name: string): ResolvedTool {
  const tool = toolTable.get(name)
  if (tool !== undefined) return { ...rulesOf(tool), kind: "tool", tool, rename: args => args }
  const alias = aliases.get(name)
  if (alias !== undefined) return resolveAlias(alias)
  const reason = unavailable.get(name)
  if (reason !== undefined) return { kind: "unavailable", reason }
  return { kind: "unknown", nearest: nearest(name, knownNames()) }
}

function rulesOf({ schema, required }: Tool): ArgumentRules {
  return { schema, required }
}

interface Alias {
  readonly tool: Tool
  /** Maps the arguments of the alias, all of them required, to those of the tool. */
  readonly arguments: Readonly<Record<string, string>>
  readonly schema: () => z.ZodMiniType
}

/** The names of the plan format, each with the arguments that it takes. */
const aliases: ReadonlyMap<string, Alias> = new Map(
  [...toolTable.values()].flatMap(tool =>
    Object.entries(tool.aliases).map(([name, names]) => [name, aliasOf(tool, names)] as const),
  ),
)

function aliasOf(tool: Tool, names: Readonly<Record<string, string>>): Alias {
  const schema = lazily(() =>
    z.strictObject(
      Object.fromEntries(Object.entries(names).map(([name, own]) => [name, argumentOf(tool, own)])),
    ),
  )
  return { tool, arguments: names, schema }
}

/** What the tool itself says about an argument: a plan that is valid is never refused by the tool behind the name. */
function argumentOf(tool: Tool, name: string) {
  const schema = tool.schema()
  assert(schema instanceof z.ZodMiniObject, `${tool.name} takes an object`)
  const argument = schema.shape[name]
  assert(argument !== undefined, `${tool.name} takes ${name}`)
  return z.nonoptional(argument)
}

function resolveAlias({ tool, arguments: names, schema }: Alias): KnownTool {
  return {
    kind: "tool",
    tool,
    schema,
    required: Object.keys(names),
    rename: args => {
      if (typeof args !== "object" || args === null) return args
      return Object.fromEntries(Object.entries(args).map(([name, value]) => [names[name] ?? name, value]))
    },
  }
}

const notYet = "not available yet: code tools come with the code index"

/** Names that are known and cannot be called. */
const unavailable: ReadonlyMap<string, string> = new Map([
  ["splice_patch", notYet],
  ["splice_plan", notYet],
  ["symbols_in_file", notYet],
  ["references_to_symbol_name", notYet],
  ["references_from_file_to_symbol_name", notYet],
  ["lsp_check", notYet],
  ["finish_step", "it ends a step of an agent and means nothing elsewhere"],
])

function knownNames(): string[] {
  return [...toolTable.keys(), ...aliases.keys()]
}
