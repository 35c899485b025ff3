import ts from "typescript"
import { isSource, isTest, parse, type TidyFile } from "./tidy-files.ts"

/** Rooms in which a mistake costs most: each of their files has tests of its own. */
const mirroredRooms = /^src\/(domain|policy|store|exec|gate)\//

/** Sources without `test/<room>/<name>.test.ts` or `<name>-<behaviour>.test.ts`; contracts and types need none. */
export function unmirrored(files: readonly TidyFile[], exceptions: readonly string[]): string[] {
  const sources = files.filter(file => mirroredRooms.test(file.path) && isSource(file))
  const mirrored = new Set(files.filter(isTest).map(test => mirroredBy(test, sources)))
  return sources
    .filter(file => hasCode(file) && !mirrored.has(file.path) && !exceptions.includes(file.path))
    .map(file => file.path)
}

/** The longest name wins: `command-builder.test.ts` is about command-builder.ts, not about command.ts. */
function mirroredBy(test: TidyFile, sources: readonly TidyFile[]): string | null {
  const about = sources.filter(({ path }) => {
    const stem = path.replace(/^src\//, "test/").replace(/\.ts$/, "")
    return (
      test.path === `${stem}.test.ts` || (test.path.startsWith(`${stem}-`) && test.path.endsWith(".test.ts"))
    )
  })
  return about.sort((a, b) => b.path.length - a.path.length)[0]?.path ?? null
}

function hasCode(file: TidyFile): boolean {
  if (file.path.endsWith("/contract.ts")) return false
  return parse(file).statements.some(
    statement =>
      !ts.isImportDeclaration(statement) &&
      !ts.isInterfaceDeclaration(statement) &&
      !ts.isTypeAliasDeclaration(statement),
  )
}

/** Lines of tests for each line of source. A row of a scenario table is a test that needs no code. */
export function testRatio(files: readonly TidyFile[]): number {
  const lines = (of: readonly TidyFile[]) => of.reduce((sum, file) => sum + file.lines.length, 0)
  const isScenario = (file: TidyFile) => file.path.startsWith("test/scenarios/")
  return lines(files.filter(file => isTest(file) || isScenario(file))) / lines(files.filter(isSource))
}
