import * as z from "zod/mini"
import type { Json } from "../../base/canonical.ts"
import { lazily } from "../../domain/lazily.ts"
import { finishTool } from "../../domain/pipeline/claim.ts"
import type { ToolDescription } from "../../provider/contract.ts"
import { toolTable } from "../../tools/registry.ts"

/** Every tool a model can be offered, as it is told about it. */
export const toolDescriptions = lazily((): readonly ToolDescription[] => [
  ...[...toolTable.values()].map(({ name, description, schema }) => ({
    name,
    description,
    parameters: jsonSchema(schema()),
  })),
  {
    name: finishTool,
    description:
      "Says that the step is finished, after everything it asks for has been done; status failed when it cannot be " +
      "done. Call it alone.",
    parameters: jsonSchema(FinishArguments()),
  },
])

const FinishArguments = lazily(() =>
  z.strictObject({ summary: z.string(), status: z.optional(z.enum(["done", "failed"])) }),
)

/** The shape as JSON Schema, without what costs tokens and says nothing. */
export function jsonSchema(type: z.ZodMiniType): Json {
  const { $schema: _, ...schema } = z.toJSONSchema(type, {
    target: "draft-2020-12",
    io: "input",
    override: ({ jsonSchema: part }) => {
      if (part.maximum === Number.MAX_SAFE_INTEGER) delete part.maximum
      if (part.minimum === Number.MIN_SAFE_INTEGER) delete part.minimum
    },
  })
  // as: a JSON Schema is JSON; its type only adds the names it may use.
  return schema as Json
}
