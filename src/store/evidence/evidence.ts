import type { ArtifactStore } from "../contract.ts"
import type { Connection } from "../database.ts"
import { matchingIds } from "../table-projection.ts"
import type { EvidenceHistory } from "./contract.ts"
import { fixesOf, recurringDiagnostics } from "./diagnostic-queries.ts"
import { showEvidence } from "./evidence-details.ts"
import { callsByCode, callsByFile, callsByTool, failedCalls, lastCallOf } from "./evidence-queries.ts"
import { evidenceTable } from "./evidence-rows.ts"

export function createEvidence(connection: Connection, artifacts: ArtifactStore): EvidenceHistory {
  const read = connection.snapshot
  return {
    byTool: (tool, range) => read(() => callsByTool(connection, tool, range)),
    failures: (tool, range) => read(() => failedCalls(connection, tool, range)),
    byCode: (code, range) => read(() => callsByCode(connection, code, range)),
    byFile: (path, range) => read(() => callsByFile(connection, path, range)),
    show: id => read(() => showEvidence(connection, artifacts, id)),
    matching: typed => read(() => matchingIds(connection, evidenceTable, typed)),
    latest: path => read(() => lastCallOf(connection, path)),
    recurring: (threshold, range) => read(() => recurringDiagnostics(connection, threshold, range)),
    fixes: (code, range) => read(() => fixesOf(connection, code, range)),
  }
}
