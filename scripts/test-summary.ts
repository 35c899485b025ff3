import { readFileSync } from "node:fs"

/** Reads the report of `bun test`, tells what was skipped and why, and closes with `N passed, N failed`. */
const [reportPath = "", runnerStatus = "1"] = process.argv.slice(2)
const report = readFileSync(reportPath, "utf8")

// With a name filter everything that does not match counts as skipped.
const listedMax = 40
const root = /<testsuites\b[^>]*>/.exec(report)?.[0] ?? ""
const skippedCount = countOf("skipped")
const failedTests = countOf("failures")
const passed = countOf("tests") - failedTests - skippedCount
// A file that cannot be loaded, or a runner that died, fails without any test of its own in the report.
const failedRun = (runnerStatus !== "0" && failedTests === 0) || passed + failedTests === 0 ? 1 : 0
const failed = failedTests + failedRun

const skipped = skippedNames()
for (const name of skipped.slice(0, listedMax)) print(`skipped: ${name}`)
if (skipped.length > listedMax) print(`skipped: ${skipped.length - listedMax} more`)
if (failedRun > 0) print(`the run itself failed: bun test ended with ${runnerStatus}, ${passed} tests passed`)
print(`${passed} passed, ${failed} failed`)
process.exit(failed > 0 ? 1 : 0)

function countOf(attribute: string): number {
  return Number(new RegExp(`\\b${attribute}="(\\d+)"`).exec(root)?.[1] ?? 0)
}

/** The reason stands in the name, see `testWhere` in test/support. */
function skippedNames(): string[] {
  const cases = report.matchAll(/<testcase name="([^"]*)"[^>]*file="([^"]*)"[^>]*[^/]>\s*<skipped/g)
  return [...cases].map(([, name = "", file = ""]) => `${unescapeXml(name)} [${file}]`)
}

function unescapeXml(text: string): string {
  const entities: Readonly<Record<string, string>> = { lt: "<", gt: ">", quot: '"', apos: "'", amp: "&" }
  return text.replace(/&(lt|gt|quot|apos|amp);/g, (found, name: string) => entities[name] ?? found)
}

function print(line: string): void {
  process.stdout.write(`${line}\n`)
}
