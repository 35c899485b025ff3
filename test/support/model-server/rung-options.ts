import type { Rung } from "../../../src/domain/model-choice.ts"
import type { ModelServerOptions } from "./contract.ts"

/** What a server can, so that acode has to use each of the ways to call a tool. */
export const rungOptions: readonly (readonly [Rung, Partial<ModelServerOptions>])[] = [
  ["native", { native: true }],
  ["constrained", { native: false }],
  ["text", { native: false, schemas: false }],
]
