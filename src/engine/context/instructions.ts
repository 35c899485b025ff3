import { Failure } from "../../domain/failure.ts"
import { dataBlock } from "../../domain/text/data-block.ts"
import type { Redactor } from "../../redaction/contract.ts"
import type { Workspace } from "../../workspace/contract.ts"
import type { StageView } from "../stages/contract.ts"
import { bytesTokens } from "./token-estimate.ts"

const fileNames = ["AGENTS.md", "CLAUDE.md"]
const bytesMax = 16 * 1024

/** What the project tells those who work on it. Redacted, because it goes to a model. */
export function readInstructions(workspace: Workspace, redactor: Redactor): StageView["instructions"] {
  const there = fileNames.filter(name => workspace.hasEntry(name))
  const found = there.flatMap(name => readOne(workspace, name) ?? [])
  // One of them is often a link to the other, or a copy.
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
    // Missing, a directory, binary, or a link that leads outside: none of it is an instruction.
    return null
  }
}

/** As every stage is told them. */
export function instructionBlocks(instructions: StageView["instructions"]): readonly string[] {
  return instructions.map(({ path, text }) => dataBlock({ type: "project instructions", name: path }, text))
}
