import type { Json } from "../../base/canonical.ts"
import type { ModelRequest } from "../contract.ts"
import { type JsonObject, objectOf } from "../fields.ts"
import { sentToolName } from "./transcript.ts"

/** The tool by which a model gives an answer that has to have a shape. */
export interface AnswerTool {
  readonly name: string
  readonly schema: JsonObject
  /** Whether the answer is the member `answer` of what the tool is given. */
  readonly isWrapped: boolean
}

/** Null when the request asks for no shape. */
export function answerToolFor({ format, tools }: ModelRequest): AnswerTool | null {
  if (format === null) return null
  const plain = sentToolName(format.name)
  const name = tools.some(tool => tool.name === plain) ? sentToolName(`answer_${plain}`) : plain
  const schema = objectOf(format.schema)
  if (schema !== null && isPlainObject(schema)) return { name, schema, isWrapped: false }
  return { name, schema: wrapped(format.schema), isWrapped: true }
}

/** The answer as text, as if the model had written it. */
export function answerText({ isWrapped }: AnswerTool, input: JsonObject): string {
  // A model that leaves the wrapping out still gave its answer.
  const answer = isWrapped && Object.hasOwn(input, answerMember) ? input[answerMember] : input
  return JSON.stringify(answer)
}

const answerMember = "answer"
/** With one of these at its top a schema of a tool is refused, and with it the whole request. */
const notAtTop = ["anyOf", "oneOf", "allOf", "not", "enum", "const", "$ref"]

function isPlainObject(schema: JsonObject): boolean {
  return schema["type"] === "object" && !notAtTop.some(word => Object.hasOwn(schema, word))
}

/** Definitions stay at the top, where the references to them look for them. */
function wrapped(schema: Json): JsonObject {
  const definitions: Record<string, Json> = {}
  const inner: Record<string, Json> = {}
  for (const [key, value] of Object.entries(objectOf(schema) ?? {}))
    (key === "$defs" || key === "definitions" ? definitions : inner)[key] = value
  return {
    type: "object",
    properties: { [answerMember]: inner },
    required: [answerMember],
    additionalProperties: false,
    ...definitions,
  }
}
