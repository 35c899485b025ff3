import { open } from "node:fs/promises"
import { errnoOf, messageOf } from "../../../base/assert.ts"
import { shownPath } from "../../../base/path-names.ts"
import { oneLine } from "../../../base/text.ts"
import type { ErrorCode } from "../../../domain/error-codes.ts"
import { Failure } from "../../../domain/failure.ts"
import type { Plan } from "../../../domain/plan/plan.ts"
import { type PlanProblem, planFailure } from "../../../domain/plan/problem.ts"
import type { PlanReading } from "../../../domain/plan/reading.ts"
import { planBytesMax } from "../../../domain/plan/strict-json.ts"
import type { CliContext } from "../../context.ts"

/**
 * Returns the plan in a file, or throws a failure that lists everything that is wrong with it. Whether its citations
 * exist is asked of the history of a workspace, where one is given.
 */
export async function validPlan(file: string, service: CliContext["service"] | null): Promise<Plan> {
  const reading = await readPlanFile(file, service)
  if ("plan" in reading) return reading.plan
  throw planFailure(reading.problems, file)
}

export async function readPlanFile(
  file: string,
  service: CliContext["service"] | null,
): Promise<PlanReading> {
  // Loaded only here: the tools import half of the program.
  const { readCitedPlan } = await import("../../../app/plan-tools.ts")
  const text = await planText(file)
  if (text === null) return { problems: [notText] }
  return readCitedPlan(text, service === null ? null : async () => (await service()).evidence())
}

const notText: PlanProblem = { code: "E001", path: "$", message: "the text is not UTF-8" }

/** Reads the text of a plan; null when it is not UTF-8, which is reported as a problem of the plan. */
async function planText(file: string): Promise<string | null> {
  const bytes = await bounded(file === "-" ? Bun.stdin.stream() : fileChunks(file))
  // It may be cut off in the middle of a character, but it is refused for its size.
  if (bytes.length > planBytesMax) return bytes.toString("utf8")
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes)
  } catch (error) {
    if (!(error instanceof TypeError)) throw error
    return null
  }
}

/** Reads at most one byte more than a plan may have, so that an endless input is refused. */
async function bounded(chunks: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const held: Uint8Array[] = []
  let size = 0
  for await (const chunk of chunks) {
    // Copied, because the source may reuse the memory.
    held.push(Uint8Array.from(chunk))
    size += chunk.length
    if (size > planBytesMax) break
  }
  return Buffer.concat(held).subarray(0, planBytesMax + 1)
}

async function* fileChunks(file: string): AsyncGenerator<Uint8Array> {
  try {
    await using handle = await open(file, "r")
    const buffer = new Uint8Array(64 * 1024)
    for (;;) {
      const { bytesRead } = await handle.read(buffer, 0, buffer.length, null)
      if (bytesRead === 0) return
      yield buffer.subarray(0, bytesRead)
    }
  } catch (error) {
    throw unreadable(file, error)
  }
}

const reasons: Readonly<Record<string, readonly [code: ErrorCode, message: string]>> = {
  ENOENT: ["ACODE-FS-002", "the plan file does not exist"],
  ENOTDIR: ["ACODE-FS-002", "the plan file does not exist"],
  EISDIR: ["ACODE-FS-003", "the plan file is a directory"],
  EACCES: ["ACODE-FS-005", "the plan file may not be read by this user"],
}

function unreadable(file: string, error: unknown): Failure {
  const [code, message] = reasons[errnoOf(error) ?? ""] ?? [
    "ACODE-FS-010",
    `the plan file cannot be read: ${oneLine(messageOf(error), 500)}`,
  ]
  return new Failure(
    {
      kind: "usage",
      code,
      message,
      where: shownPath(file),
      hint: "name a plan file, or - for standard input",
    },
    { cause: error },
  )
}
