import { canonicalJson } from "../src/base/canonical.ts"
import { command } from "../src/domain/command-validation.ts"
import { createCapture } from "../src/exec/capture.ts"
import { childEnvironment } from "../src/exec/environment.ts"
import type { Redactor } from "../src/redaction/contract.ts"
import { createRedactor } from "../src/redaction/redactor.ts"
import { environmentRules } from "../src/redaction/secret-names.ts"
import { executionRecord } from "../test/support/execution-record.ts"
import { computed } from "./measure.ts"
import { atMost, type Figure } from "./report.ts"

/** The parts of a command that touch nothing but memory. */
export function pureFigures(): Figure[] {
  const cases: readonly (readonly [string, () => void])[] = [
    ["validation", () => void validated()],
    ["environment merge", () => void mergedEnvironment()],
    ["truncation", () => void truncated()],
    ["serialisation", () => void canonicalJson(record)],
  ]
  return cases.map(([name, work]) => atMost(name, computed(15, work).p50, 0.1))
}

const record = executionRecord("exe_00000000-0000-7000-8000-000000000001", {
  stdout: "line of output\n".repeat(600),
})
const variables = Object.fromEntries(
  Array.from({ length: 60 }, (_, index) => [`VARIABLE_${index}`, "value ".repeat(8)]),
)
/** Redaction has a figure of its own. */
const keeping: Redactor = {
  redactText: text => text,
  redactSpans: () => [],
  redactBytes: bytes => bytes,
  redactParts: parts => parts,
  stream: () => ({ push: chunk => chunk, end: () => new Uint8Array(0) }),
}
const chunk = new TextEncoder().encode("a line of ordinary output\n".repeat(1_000))

function validated() {
  return command("npm").withArguments("run", "test", "--", "--watch=false").withTimeout(60_000).build()
}

const redactor = createRedactor({ secretValues: [], extraPatterns: [] })

function mergedEnvironment() {
  return childEnvironment({
    executionId: record.id,
    owner: "person",
    mode: "merge",
    host: { ...variables, PATH: "/usr/bin", HOME: "/tmp", API_SECRET: "value of a secret" },
    command: { NODE_ENV: "test", VARIABLE_1: null },
    exclude: ["INTERNAL_*"],
    include: [],
    rules: environmentRules,
    redactText: text => redactor.redactText(text),
  })
}

/** A stream above its ceiling: head and tail are kept, size and hash are of all of it. */
function truncated() {
  const capture = createCapture({ outputBytesMax: 4_096, artifactBytesMax: 0 })
  capture.add(chunk)
  return capture.finish(keeping)
}
