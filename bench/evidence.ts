import type { NewEvent } from "../src/domain/events/definition.ts"
import type { EvidenceHistory } from "../src/store/evidence/contract.ts"
import { changing, event, remarks, startSession } from "../test/store/support/session-events.ts"
import { openTempStore } from "../test/support/workspace/temp-store.ts"
import { tempWorkspace } from "../test/support/workspace/temp-workspace.ts"
import { computed } from "./measure.ts"
import { atMost, type Figure } from "./report.ts"

const rowCount = 100_000
const callsPerAppend = 250
const answersMax = 100

/** Every question about evidence, on a history of 100,000 calls. */
export function evidenceFigures(): Figure[] {
  using workspace = tempWorkspace()
  let now = Date.parse("2026-01-01T00:00:00Z")
  // Time advances with each append, so that there are ranges to query.
  using store = openTempStore(workspace, { clock: { now: () => now, monotonicMs: () => now } })
  const session = startSession(store)
  for (let first = 0; first < rowCount; first += callsPerAppend) {
    now += 3_000
    session.append(...Array.from({ length: callsPerAppend }, (_, index) => call(first + index)).flat())
  }
  return queries(store.evidence).map(([name, work]) =>
    atMost(`evidence ${name}`, computed(15, () => void work()).p95, 20),
  )
}

function queries(evidence: EvidenceHistory): readonly (readonly [string, () => unknown])[] {
  const range = { since: "2026-01-01T00:03:00Z", until: "2026-01-01T00:18:00Z", limit: answersMax }
  return [
    ["by-tool", () => evidence.byTool("read_file", range)],
    ["failures", () => evidence.failures(null, range)],
    ["failures of a tool", () => evidence.failures("run_command", range)],
    ["by-code", () => evidence.byCode("TS1", range)],
    ["by-file", () => evidence.byFile("src/0.ts", range)],
    ["show", () => evidence.show(idOf(50_000))],
    ["latest", () => evidence.latest("src/7.ts")],
    ["recurring", () => evidence.recurring(3, { limit: answersMax })],
    ["fixes", () => evidence.fixes("TS1", { limit: answersMax })],
    ["by a part of an id", () => evidence.matching(idOf(99_999).slice(-8))],
  ]
}

function idOf(number: number): string {
  return `cal_00000000-0000-7000-8000-${number.toString(16).padStart(12, "0")}`
}

/** Reads, changes and compiler runs in turns over 500 files; a fifth fails with one of 50 codes, few of them often. */
function call(number: number): readonly NewEvent[] {
  const id = idOf(number)
  const file = `src/${(number * 7) % 500}.ts`
  if (number % 5 === 0) {
    const code = `TS${Math.floor(50 / (1 + (number % 51)))}`
    return [
      event.callRequested(id, { tool: "run_terminal", canonicalTool: "run_command" }),
      event.callSettled(id, { outcome: "failed", exitCode: 2, ...remarks(file, code, code) }),
    ]
  }
  if (number % 5 === 1)
    return [
      event.callRequested(id, { tool: "file_write", canonicalTool: "write_file" }),
      event.callSettled(id, changing(`src/${((number - 1) * 7) % 500}.ts`)),
    ]
  return [event.callRequested(id), event.callSettled(id, { paths: [file] })]
}
