import type { Json } from "../../base/canonical.ts"
import type { ToolDescription } from "../../provider/contract.ts"
import schemas from "./model-schemas.json" with { type: "json" }

/**
 * The descriptions of tools and answers for models. `npm run docs` writes them from the schemas that check the answers:
 * building them at each start would take longer than everything else before a model is asked.
 */
export const toolDescriptions: readonly ToolDescription[] = schemas.tools

export const answerSchemas: Readonly<Record<keyof typeof schemas.formats, Json>> = schemas.formats
