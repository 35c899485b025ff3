import type { ArtifactStore } from "../contract.ts"
import { matchingIds } from "../table-projection.ts"
import type { EvidenceHistory } from "./contract.ts"
import { fixesOf, recurringDiagnostics } from "./diagnostic-queries.ts"
import { showEvidence } from "./evidence-details.ts"
import {
  callsByCode,
  callsByFile,
  callsByTool,
  type EvidenceReading,
  failedCalls,
  lastCallOf,
} from "./evidence-queries.ts"
import { evidenceTable } from "./evidence-rows.ts"

export function createEvidence(reading: EvidenceReading, artifacts: ArtifactStore): EvidenceHistory {
  const { connection } = reading
  const read = connection.snapshot
  return {
    byTool: (tool, range) => read(() => callsByTool(reading, tool, range)),
    failures: (tool, range) => read(() => failedCalls(reading, tool, range)),
    byCode: (code, range) => read(() => callsByCode(reading, code, range)),
    byFile: (path, range) => read(() => callsByFile(reading, path, range)),
    show: id => read(() => showEvidence(reading, artifacts, id)),
    matching: typed => read(() => matchingIds(connection, evidenceTable, typed)),
    latest: path => read(() => lastCallOf(reading, path)),
    recurring: (threshold, range) => read(() => recurringDiagnostics(connection, threshold, range)),
    fixes: (code, range) => read(() => fixesOf(connection, code, range)),
  }
}
