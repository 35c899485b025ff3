import type { IndexUpdate } from "../../../app/wiring/code.ts"
import { shownPath } from "../../../base/path-names.ts"
import { counted, oneLine } from "../../../base/text.ts"
import { qualifiedName } from "../../../domain/code/symbol.ts"
import { exitCodes } from "../../../domain/exit-codes.ts"
import type { Staleness } from "../../../tools/contract.ts"
import type { CliContext } from "../../context.ts"
import { defineCommand } from "../../definition.ts"
import type { Output } from "../../output.ts"
import { interruption } from "../../terminal/interruption.ts"

const asIsFlag = {
  "no-update": { kind: "boolean", summary: "use the index as it is, without parsing changed files" },
} as const

export const index = defineCommand({
  name: "index",
  summary: "build or update the index of symbols and references",
  description:
    "Parses the files of the workspace that git does not ignore and that changed since the last time. The index lies\n" +
    "outside the workspace, can be made again at any time, and is updated before each question by itself.",
  arguments: [],
  flags: {
    problems: { kind: "boolean", summary: "list the files that were not parsed, or only in part" },
    rebuild: { kind: "boolean", summary: "delete the index and build it again" },
    watch: { kind: "boolean", summary: "keep parsing changed files until Ctrl-C" },
  },
  examples: [
    { line: "acode index", note: "parse what changed" },
    { line: "acode index --watch --json", note: "an object a line, for each change" },
    { line: "acode index --problems", note: "which files could not be parsed, and why" },
  ],
  run: async ({ flags }, context) => {
    const { output, globals } = context
    const app = await context.service()
    if (flags.rebuild || !(flags.problems || flags.watch)) {
      const update = await app.indexCode({ isRebuilt: flags.rebuild })
      if (!flags.watch && !flags.problems) {
        if (globals.json) output.json(update)
        output.line(updateText(update))
        return 0
      }
    }
    return flags.watch ? watch(context) : problems(context)
  },
})

function updateText({ files, parsed, removed }: IndexUpdate): string {
  return `${counted(files, "file")} indexed: ${parsed} parsed now, ${removed} removed`
}

async function watch({ service, output, globals }: CliContext): Promise<number> {
  using interrupted = interruption()
  const show = (update: IndexUpdate) => {
    if (globals.json) output.jsonLine(update)
    output.line(updateText(update))
  }
  await (await service()).watchCode(show, interrupted.signal)
  return exitCodes.interrupted.code
}

async function problems({ service, output, globals }: CliContext): Promise<number> {
  const answer = await (await service()).codeProblems()
  if (globals.json) output.json(answer)
  for (const { path, language, errorCount, unparsed } of answer.rows)
    output.line(`${fileText(path)}  ${language}  ${unparsed ?? counted(errorCount, "parse error")}`)
  if (answer.rows.length === 0) output.notice("every file was parsed without errors")
  reportStale(output, answer)
  return 0
}

export const symbols = defineCommand({
  name: "symbols",
  summary: "list the symbols that a file defines",
  arguments: [{ name: "FILE", summary: "a source file of the workspace" }],
  flags: asIsFlag,
  examples: [
    { line: "acode symbols FILE", note: "each with its lines, kind and signature" },
    { line: "acode symbols FILE --json", note: "with byte offsets" },
  ],
  run: async ({ arguments: [file = ""], flags }, { service, output, globals }) => {
    const answer = await (await service()).symbolsInFile(file, { asIs: flags["no-update"] })
    if (globals.json) output.json(answer)
    for (const { line_start, line_end, kind, name, container, signature } of answer.rows)
      output.line(
        `${`${line_start}-${line_end}`.padEnd(11)} ${kind.padEnd(9)} ${oneLine(qualifiedName({ name, container }), 80)}  ${output.dim(signature)}`,
      )
    if (answer.rows.length === 0) output.notice("the file defines no symbols")
    reportStale(output, answer)
    return 0
  },
})

export const refs = defineCommand({
  name: "refs",
  summary: "list where a name is defined and used",
  description:
    "Matches by name only: lists every identifier of this name in the code of the workspace, whatever it refers to, and\n" +
    "nothing in comments and strings.",
  arguments: [{ name: "NAME", summary: "a name, or CONTAINER.NAME" }],
  flags: { from: { kind: "text", value: "FILE", summary: "only in this file" }, ...asIsFlag },
  examples: [
    { line: "acode refs NAME", note: "every place, as FILE:LINE" },
    { line: "acode refs NAME --from FILE --json", note: "in one file, with byte offsets" },
  ],
  run: async ({ arguments: [name = ""], flags }, { service, output, globals }) => {
    const answer = await (await service()).codeReferences(name, flags.from ?? null, {
      asIs: flags["no-update"],
    })
    if (globals.json) output.json(answer)
    for (const { from_file_path, line } of answer.rows) output.line(`${fileText(from_file_path)}:${line}`)
    if (answer.rows.length === 0) output.notice(`nothing is called ${oneLine(name, 80)}`)
    reportStale(output, answer)
    return 0
  },
})

export const outline = defineCommand({
  name: "outline",
  summary: "show the most important symbols, by file",
  description:
    "Symbols that other files use come first, then exported ones, then large ones, until the budget is used.",
  arguments: [
    { name: "PATH", summary: "a file or directory; the whole workspace without it", optional: true },
  ],
  flags: {
    budget: {
      kind: "number",
      value: "N",
      summary: "approximate size of the outline in tokens (2000)",
      min: 50,
      max: 1_000_000,
      isWhole: true,
    },
    ...asIsFlag,
  },
  examples: [
    { line: "acode outline", note: "the workspace in about 2000 tokens" },
    { line: "acode outline PATH --budget 500", note: "a folder, shorter" },
  ],
  run: async ({ arguments: [path = "."], flags }, { service, output, globals }) => {
    const answer = await (await service()).codeOutline(path, flags.budget ?? 2000, {
      asIs: flags["no-update"],
    })
    if (globals.json) output.json(answer)
    else if (answer.text !== "") for (const line of answer.text.split("\n")) output.line(line)
    const { shownSymbols, symbols: all } = answer
    if (shownSymbols < all) output.notice(`${shownSymbols} of ${counted(all, "symbol")} shown`)
    reportStale(output, answer)
    return 0
  },
})

function fileText(path: string): string {
  return oneLine(shownPath(path), 300)
}

function reportStale(output: Output, { stale, missingFiles }: Staleness): void {
  if (stale)
    output.notice(
      `${counted(missingFiles, "changed file")} not parsed yet, so the answer may be incomplete\n  → \`acode index\` parses them all`,
    )
}
