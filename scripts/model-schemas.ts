import * as z from "zod/mini"
import type { Json } from "../src/base/canonical.ts"
import { finishTool } from "../src/domain/pipeline/claim.ts"
import { Judgement, Review } from "../src/domain/pipeline/review.ts"
import { FullPlan } from "../src/domain/plan/schema.ts"
import type { ToolTraits } from "../src/domain/plan/tool-traits.ts"
import { toolTable } from "../src/tools/registry.ts"

const unsaid = ["minLength", "maxLength", "maxItems", "pattern", "default", "propertyNames"] as const

/** Returns the schemas of tools and answers for models, as text of `src/engine/stages/model-schemas.json`. */
export function modelSchemas(): string {
  const tools = [...toolTable.values()].map(({ name, description, schema }) => ({
    name,
    description,
    parameters: jsonSchema(schema()),
  }))
  const formats = {
    // A model is shown no evidence that it could cite.
    plan: jsonSchema(FullPlan(), ["evidence_referenced"]),
    answer: jsonSchema(z.strictObject({ answer: z.string() })),
    verdicts: jsonSchema(Judgement()),
    review: jsonSchema(Review()),
  }
  return `${JSON.stringify({ tools: [...tools, finish], formats }, null, 2)}\n`
}

/** Returns the text of `src/domain/plan/tool-traits.json`: what each tool declares besides its arguments. */
export function toolTraitsText(): string {
  const traits = [...toolTable.values()].map(
    ({ name, kind, aliases, actions, needsIndex, variants }): [string, ToolTraits] => [
      name,
      {
        kind,
        aliases,
        actions,
        ...(needsIndex === undefined ? {} : { needsIndex }),
        ...(variants === undefined ? {} : { variants }),
      },
    ],
  )
  return `${JSON.stringify(Object.fromEntries(traits), null, 2)}\n`
}

const finish = {
  name: finishTool,
  description:
    "Says that the step is finished, after everything it asks for has been done; status failed when it cannot be " +
    "done. Call it alone.",
  parameters: jsonSchema(
    z.strictObject({ summary: z.string(), status: z.optional(z.enum(["done", "failed"])) }),
  ),
}

/**
 * The shape as JSON Schema, without what costs tokens and says nothing, and without what servers that constrain a reply
 * cannot do: they refuse long counts and patterns with Unicode classes. An answer is checked against the whole shape.
 */
function jsonSchema(type: z.ZodMiniType, omitted: readonly string[] = []): Json {
  const {
    $schema: _,
    $defs: __,
    ...schema
  } = z.toJSONSchema(type, {
    target: "draft-2020-12",
    io: "input",
    override: ({ jsonSchema: part }) => {
      for (const name of unsaid) delete part[name]
      if (part.maximum === Number.MAX_SAFE_INTEGER) delete part.maximum
      if (part.minimum === Number.MIN_SAFE_INTEGER) delete part.minimum
      // Any JSON value: an object that says nothing about its properties means the same.
      if (typeof part.additionalProperties === "object") delete part.additionalProperties
    },
  })
  for (const name of omitted) delete schema.properties?.[name]
  // as: a JSON Schema is JSON; its type only adds the names it may use.
  return schema as Json
}
