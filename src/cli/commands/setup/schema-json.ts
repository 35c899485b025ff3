import { toJSONSchema, type ZodMiniType } from "zod/mini"

/** Returns a JSON schema. In `input` schemas properties with a default are optional; `output` is what acode prints. */
export function schemaJson(type: ZodMiniType, io: "input" | "output" = "output"): Record<string, unknown> {
  return toJSONSchema(type, { target: "draft-2020-12", io })
}
