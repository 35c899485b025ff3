import { shownPath } from "../base/path-names.ts"
import { Failure } from "../domain/failure.ts"
import { type PipelineFile, readPipeline } from "../domain/skill/pipeline-file.ts"
import { givenText, readGivenFile } from "./given-file.ts"
import { readYaml } from "./yaml.ts"

const pipelineBytesMax = 1_000_000
const problemsMax = 50

/** Reads a pipeline, YAML or JSON. Throws ACODE-SKILL-004 with every problem and its place. */
export function readPipelineFile(path: string): PipelineFile {
  const file = { path, flag: "FILE" }
  const read = readYaml(givenText(file, readGivenFile(file, pipelineBytesMax)))
  if ("problems" in read)
    throw invalid(
      path,
      read.problems.map(({ line, column, message }) => `line ${line}, column ${column}: ${message}`),
    )
  const { value, placeOf } = read.tree
  const reading = readPipeline(value)
  if ("pipeline" in reading) return reading.pipeline
  throw invalid(
    path,
    reading.problems
      .map(({ path: at, message }) => ({
        ...placeOf(at, "value"),
        what: `${at.join(".")} ${message}`.trim(),
      }))
      .toSorted((one, other) => one.line - other.line || one.column - other.column)
      .map(({ line, column, what }) => `line ${line}, column ${column}: ${what}`),
  )
}

function invalid(path: string, problems: readonly string[]): Failure {
  const shown = problems.slice(0, problemsMax)
  if (problems.length > shown.length) shown.push(`and ${problems.length - shown.length} more`)
  return new Failure({
    kind: "usage",
    code: "ACODE-SKILL-004",
    message: `the pipeline is not valid:\n${shown.map(line => `  ${line}`).join("\n")}`,
    where: shownPath(path),
    hint: "correct what is named; `acode schema pipeline` describes the format",
  })
}
