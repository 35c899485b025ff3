import { toJSONSchema, type ZodMiniType } from "zod/mini"

/** `input` is what somebody writes, who may leave out what has a default; `output` is what acode prints. */
export function schemaJson(type: ZodMiniType, io: "input" | "output" = "output"): Record<string, unknown> {
  return toJSONSchema(type, { target: "draft-2020-12", io })
}
