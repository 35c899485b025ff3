import { z } from "zod"
import { compileGlob } from "../../base/glob.ts"
import { checkerNames } from "../../domain/code/checker-names.ts"
import { defaultConfig } from "../defaults.ts"

const defaults = defaultConfig.code

/** Returns the `code:` section: the index of symbols and references, and the checks of code. */
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
      check_timeout_seconds: z
        .number()
        .min(0.1)
        .max(24 * 3600)
        .default(defaults.check_timeout_seconds)
        .describe("Timeout of one run of a compiler, type checker or linter in seconds."),
      checkers: checkersKey(),
    })
    .prefault({})
    .describe("The code index, which `acode index` creates and updates, and the programs that check code.")
}

function checkersKey() {
  return z
    .array(
      z.strictObject({
        checker: z.enum(checkerNames).describe("the checker whose output the command prints"),
        command: z
          .union([z.null(), z.array(z.string().max(1000).describe("an argument")).min(1).max(100)])
          .describe("null switches the checker off"),
      }),
    )
    .max(checkerNames.length)
    .default([...defaults.checkers])
    .describe(
      "Commands that check code in place of the usual ones, as lists of arguments; run in the root of the workspace.",
    )
}
