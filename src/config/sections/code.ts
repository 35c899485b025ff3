import { z } from "zod"
import { compileGlob } from "../../base/glob.ts"
import { defaultConfig } from "../defaults.ts"

const defaults = defaultConfig.code

/** Returns the `code:` section: the index of symbols and references. */
export function codeSection() {
  return z
    .strictObject({
      enabled: z
        .boolean()
        .default(defaults.enabled)
        .describe(
          "Whether acode keeps an index of the symbols in the workspace, stored outside the workspace.",
        ),
      max_file_kb: z
        .number()
        .int()
        .min(1)
        .max(65_536)
        .default(defaults.max_file_kb)
        .describe(
          "Size in KB of the largest file that is parsed; `acode index --problems` lists larger ones.",
        ),
      exclude: z
        .array(
          z
            .string()
            .max(500)
            .refine(pattern => compileGlob(pattern) !== null, "is not a glob")
            .describe("a glob relative to the root of the workspace"),
        )
        .max(200)
        .default([...defaults.exclude])
        .describe("Files that are not indexed, in addition to those that git ignores."),
    })
    .prefault({})
    .describe("The code index, which `acode index` creates and updates.")
}
