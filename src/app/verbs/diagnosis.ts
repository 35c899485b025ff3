import { realpathSync } from "node:fs"

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

/**
 * Returns an AppArmor profile that lets one program, and what it starts, make user namespaces. It attaches by path and
 * restricts nothing else, as the profiles do that Ubuntu ships for browsers.
 */
export function appArmorProfile(program = realpathSync(process.execPath)): string {
  return [
    "# Lets acode confine commands. As root, save this as /etc/apparmor.d/acode and load it:",
    "#   apparmor_parser -r /etc/apparmor.d/acode",
    "abi <abi/4.0>,",
    "include <tunables/global>",
    "",
    `profile acode ${quoted(program)} flags=(unconfined) {`,
    "  userns,",
    "}",
    "",
  ].join("\n")
}

/** Quotes a path for a profile, which takes every character in quotes as it is, except those of its patterns. */
function quoted(path: string): string {
  return `"${path.replace(/[\\"*?[\]{}^@]/g, character => `\\${character}`)}"`
}
