import type { Rung } from "../../../src/domain/model-choice.ts"
import type { ModelServerOptions } from "./contract.ts"

/** The abilities of a server for each rung, so that acode has to use that way to call tools. */
export const rungOptions: readonly (readonly [Rung, Partial<ModelServerOptions>])[] = [
  ["native", { native: true }],
  ["constrained", { native: false }],
  ["text", { native: false, schemas: false }],
]
