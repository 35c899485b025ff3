import { readFileSync } from "node:fs"

/**
 * Reads the report of `bun test`, prints what was skipped and why, and ends with `N passed, N failed`. The third
 * argument is the number of checks of the whole run that failed; each counts as one more failure.
 */
const [reportPath = "", runnerStatus = "1", lacking = "0"] = process.argv.slice(2)
const report = readFileSync(reportPath, "utf8")

/** The number of tests listed for each reason. With a name filter every test that does not match counts as skipped. */
const namedMax = 5
const root = /<testsuites\b[^>]*>/.exec(report)?.[0] ?? ""
const skippedCount = countOf("skipped")
const failedTests = countOf("failures")
const passed = countOf("tests") - failedTests - skippedCount
// A file that cannot be loaded, or a runner that died, fails without any test of its own in the report.
const failedRun = (runnerStatus !== "0" && failedTests === 0) || passed + failedTests === 0 ? 1 : 0
const failed = failedTests + failedRun + Number(lacking)

for (const [reason, names] of skippedTests()) {
  for (const name of names.slice(0, namedMax)) print(`skipped: ${name}`)
  if (names.length > namedMax) print(`skipped: ${names.length - namedMax} more (${reason})`)
}
if (failedRun > 0) print(`the run itself failed: bun test ended with ${runnerStatus}, ${passed} tests passed`)
print(`${passed} passed, ${failed} failed`)
process.exit(failed > 0 ? 1 : 0)

function countOf(attribute: string): number {
  return Number(new RegExp(`\\b${attribute}="(\\d+)"`).exec(root)?.[1] ?? 0)
}

/** Returns skipped tests by reason, which is in the name of the test or its group: see `testWhere` in test/support. */
function skippedTests(): ReadonlyMap<string, readonly string[]> {
  const cases = report.matchAll(
    /<testcase name="([^"]*)" classname="([^"]*)"[^>]*file="([^"]*)"[^>]*[^/]>\s*<skipped/g,
  )
  const byReason = new Map<string, string[]>()
  for (const [, name = "", group = "", file = ""] of cases) {
    const own = unescapeXml(name)
    const named = /\(skipped: (.*?)\)(?= > |$)/
    const [, reason = "no reason is given"] = named.exec(own) ?? named.exec(unescapeXml(group)) ?? []
    const shown = own.includes("(skipped: ") ? own : `${own} (skipped: ${reason})`
    byReason.set(reason, [...(byReason.get(reason) ?? []), `${shown} [${file}]`])
  }
  return byReason
}

function unescapeXml(text: string): string {
  const entities: Readonly<Record<string, string>> = { lt: "<", gt: ">", quot: '"', apos: "'", amp: "&" }
  return text.replace(/&(lt|gt|quot|apos|amp);/g, (found, name: string) => entities[name] ?? found)
}

function print(line: string): void {
  process.stdout.write(`${line}\n`)
}
