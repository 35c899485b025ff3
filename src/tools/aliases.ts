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
      readonly kind: "unknown"
      /** The known name that resembles it most, or null. */
      readonly nearest: string | null
    }

/** A tool under the name that a call used. A name of the plan format has a schema of its own. */
export interface KnownTool extends ArgumentRules {
  readonly kind: "tool"
  readonly tool: Tool
  /** Returns arguments that fit this schema under the names that the tool uses, with their values unchanged. */
  rename(args: Json): Json
}

/**
 * Returns the tool behind a name, or the reason why no tool can be called by it. Nothing else maps names to tools.
 */
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

/** Returns the tool's own schema of an argument, so that the tool accepts every plan that is valid. */
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

/** Names that are reserved and cannot be called, each with the reason. */
const unavailable: ReadonlyMap<string, string> = new Map([
  ["finish_step", "it ends a step of an agent and means nothing elsewhere"],
])

function knownNames(): string[] {
  return [...toolTable.keys(), ...aliases.keys()]
}
