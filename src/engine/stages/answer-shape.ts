import type * as z from "zod/mini"
import { planProblems, shapeFindings } from "../../domain/plan/problem.ts"
import { jsonAnswer, parsedJson } from "../../domain/text/json-answer.ts"

export type ShapedAnswer<Value> =
  | { readonly value: Value; readonly problems?: undefined }
  | { readonly problems: readonly string[]; readonly value?: undefined }

/** Parses the JSON of an answer by a schema. Otherwise returns all problems as sentences. */
export function shapedAnswer<Value>(text: string, schema: z.ZodMiniType<Value>): ShapedAnswer<Value> {
  const answer = jsonAnswer(text)
  if (answer.problem !== undefined) return { problems: [answer.problem] }
  const json = parsedJson(answer.json)
  if (json === undefined) return { problems: ["the JSON object in the answer cannot be read"] }
  const { success, data, error } = schema.safeParse(json)
  if (success) return { value: data }
  return {
    problems: planProblems(shapeFindings(error.issues, json)).map(
      ({ path, message }) => `${path}: ${message}`,
    ),
  }
}
