import { z } from "zod"
import { compileGlob } from "../../base/glob.ts"
import { defaultConfig } from "../defaults.ts"

const defaults = defaultConfig.code

/** The `code:` section: the index of symbols and references. */
export function codeSection() {
  return z
    .strictObject({
      enabled: z
        .boolean()
        .default(defaults.enabled)
        .describe("Whether acode keeps an index of the symbols of the workspace, outside of it."),
      max_file_kb: z
        .number()
        .int()
        .min(1)
        .max(65_536)
        .default(defaults.max_file_kb)
        .describe("Larger files are not parsed; `acode index --problems` lists them."),
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
        .describe("Files that are not indexed, besides those that git ignores."),
    })
    .prefault({})
    .describe("The index of the code, which `acode index` makes and updates.")
}
