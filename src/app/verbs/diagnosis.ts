/** One thing `doctor` looked at. */
export interface DoctorFinding {
  readonly name: string
  readonly status: "ok" | "warning" | "fault"
  readonly message: string
  /** What to do; only where something is to be done. */
  readonly hint: string | null
}

export function isHealthy(findings: readonly DoctorFinding[]): boolean {
  return findings.every(finding => finding.status !== "fault")
}
