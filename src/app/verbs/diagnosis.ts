/** The result of one check of `doctor`. */
export interface DoctorFinding {
  readonly name: string
  readonly status: "ok" | "warning" | "fault"
  readonly message: string
  /** The next step for the user; null where none is needed. */
  readonly hint: string | null
}

export function isHealthy(findings: readonly DoctorFinding[]): boolean {
  return findings.every(finding => finding.status !== "fault")
}
