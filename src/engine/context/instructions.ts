import { Failure } from "../../domain/failure.ts"
import { dataBlock } from "../../domain/text/data-block.ts"
import type { Redactor } from "../../redaction/contract.ts"
import type { Workspace } from "../../workspace/contract.ts"
import type { StageView } from "../stages/contract.ts"
import { bytesTokens } from "./token-estimate.ts"

const fileNames = ["AGENTS.md", "CLAUDE.md"]
const bytesMax = 16 * 1024

/** Reads the instructions of the project for its contributors. Redacted, because they go to a model. */
export function readInstructions(workspace: Workspace, redactor: Redactor): StageView["instructions"] {
  const there = fileNames.filter(name => workspace.hasEntry(name))
  const found = there.flatMap(name => readOne(workspace, name) ?? [])
  // One of the files is often a link to the other, or a copy.
  const different = found.filter(
    ({ sha256 }, index) => found.findIndex(each => each.sha256 === sha256) === index,
  )
  return different.map(({ name, text, truncated, totalLines, sizeBytes }) => ({
    path: name,
    text: redactor.redactText(text) + (truncated ? `\n[cut off; the file has ${totalLines} lines]` : ""),
    ...(truncated ? { leftOutTokens: bytesTokens(sizeBytes - Buffer.byteLength(text)) } : {}),
  }))
}

function readOne(workspace: Workspace, name: string) {
  try {
    return { name, ...workspace.readLines(name, { bytesMax }) }
  } catch (error) {
    if (!(error instanceof Failure)) throw error
    // Missing, a directory, binary, or a link that leads outside: not an instruction file.
    return null
  }
}

/** Returns the instructions as every stage sees them. */
export function instructionBlocks(instructions: StageView["instructions"]): readonly string[] {
  return instructions.map(({ path, text }) => dataBlock({ type: "project instructions", name: path }, text))
}
