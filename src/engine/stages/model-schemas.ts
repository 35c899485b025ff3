import type { Json } from "../../base/canonical.ts"
import type { ToolDescription } from "../../provider/contract.ts"
import schemas from "./model-schemas.json" with { type: "json" }

/**
 * What models are told about tools and answers. Made by `npm run docs` from the very schemas that check what they say:
 * to make it at each start would take longer than everything else before a model is asked.
 */
export const toolDescriptions: readonly ToolDescription[] = schemas.tools

export const answerSchemas: Readonly<Record<keyof typeof schemas.formats, Json>> = schemas.formats
