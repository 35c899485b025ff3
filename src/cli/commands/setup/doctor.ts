import { appArmorProfile, type DoctorFinding, isHealthy } from "../../../app/verbs/diagnosis.ts"
import { exitCodes } from "../../../domain/exit-codes.ts"
import { defineCommand } from "../../definition.ts"
import type { Output } from "../../output.ts"

export const doctor = defineCommand({
  name: "doctor",
  summary: "check what acode needs on this machine, and how to fix what is missing",
  description: "Exits 1 when a check fails; warnings do not count.",
  arguments: [],
  flags: {
    apparmor: {
      kind: "boolean",
      summary: "print a profile that lets acode make user namespaces where AppArmor forbids it",
    },
  },
  examples: [{ line: "acode doctor", note: "first thing to try when something does not work" }],
  run: async ({ flags }, { service, output, globals }) => {
    if (flags.apparmor) {
      if (globals.json) output.json({ profile: appArmorProfile() })
      output.line(appArmorProfile().trimEnd())
      return 0
    }
    const findings = await (await service()).diagnose()
    if (globals.json) output.json(findings.map(finding => ({ id: finding.name, ...finding })))
    const width = Math.max(...findings.map(finding => finding.name.length))
    const indent = " ".repeat(width + 4)
    for (const finding of findings) {
      const message = finding.message.replaceAll("\n", `\n${indent}`)
      output.line(`${markOf(finding, output)} ${finding.name.padEnd(width)}  ${message}`)
      if (finding.hint !== null) output.line(`${indent}→ ${finding.hint}`)
    }
    return isHealthy(findings) ? 0 : exitCodes.general.code
  },
})

function markOf(finding: DoctorFinding, output: Output): string {
  if (finding.status === "ok") return output.green("✓")
  return finding.status === "warning" ? "!" : output.red("✗")
}
