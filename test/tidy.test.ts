import { describe, expect, test } from "bun:test"
import { sizeExceptions } from "./support/tidy/tidy-exceptions.ts"
import {
  type Finding,
  isSource,
  isTest,
  isTypeScript,
  repositoryFiles,
  show,
  type TidyFile,
  tidyFile,
} from "./support/tidy/tidy-files.ts"
import {
  crowdedFolders,
  dialect,
  lonelyFiles,
  mutualFolders,
  repeatedExports,
  staleSeparateFiles,
  vagueOpenings,
} from "./support/tidy/tidy-layout.ts"
import {
  barrels,
  oddFileNames,
  refusedSuffixes,
  refusedVocabulary,
  vagueTypes,
  wishfulTestNames,
} from "./support/tidy/tidy-names.ts"
import {
  oversizedFiles,
  oversizedFunctions,
  spreadLiterals,
  staleSizeExceptions,
  staleSpreadingFiles,
} from "./support/tidy/tidy-sizes.ts"
import { bannedTextsIn, wideComments } from "./support/tidy/tidy-texts.ts"
import { silentCatches, unsoundTypes } from "./support/tidy/tidy-types.ts"

const files = repositoryFiles()
const sources = files.filter(isSource)
const code = files.filter(isTypeScript)
/** A test's callbacks may be long; what tests share may not. */
const measured = code.filter(file => !file.path.endsWith(".test.ts"))
/** Everything but tests, the record of changes, and generated lists of recorded values. */
const proseFiles = files.filter(
  ({ path }) =>
    /^(\.ci|bench|bin|docs|scripts|src)\/|^test\/support\/|^[A-Z]+\.md$/.test(path) &&
    !/\.test\.ts$|\.json$|^CHANGELOG\.md$|^docs\/events\.md$/.test(path),
)

const everywhere = (of: readonly TidyFile[], rule: (file: TidyFile) => Finding[]) => show(of.flatMap(rule))

describe("the repository keeps its own rules", () => {
  test("it sees the files it is about", () => {
    expect(sources.length).toBeGreaterThan(40)
    expect(files.filter(isTest).length).toBeGreaterThan(40)
  })

  test("no file and no function is longer than a reader can hold", () => {
    expect(show(oversizedFiles(code))).toEqual([])
    expect(show(oversizedFunctions(measured, sizeExceptions))).toEqual([])
    expect(staleSizeExceptions(measured, sizeExceptions)).toEqual([])
  })

  test("no literal is spread into another one to save lines", () => {
    expect(everywhere(code, spreadLiterals)).toEqual([])
    expect(staleSpreadingFiles(code)).toEqual([])
  })

  test("a folder can be scanned, and a file has more than one importer or a size of its own", () => {
    expect(crowdedFolders(code)).toEqual([])
    expect(show(lonelyFiles(sources))).toEqual([])
    expect(staleSeparateFiles(sources)).toEqual([])
  })

  test("no two folders import each other", () => {
    expect(mutualFolders(sources)).toEqual([])
  })

  test("an exported name has one meaning", () => {
    expect(repeatedExports(sources)).toEqual([])
  })

  test("comments, messages and pages are plain English", () => {
    expect(everywhere(proseFiles, vagueOpenings)).toEqual([])
    expect(everywhere(proseFiles, dialect)).toEqual([])
  })

  test("no comment is wider than a review shows", () => {
    expect(everywhere(code, wideComments)).toEqual([])
  })

  test("types are asked, not told", () => {
    expect(everywhere(sources, unsoundTypes)).toEqual([])
  })

  test("no failure is swallowed without a sentence", () => {
    expect(everywhere(code, silentCatches)).toEqual([])
  })

  test("nothing is written that has a better replacement", () => {
    expect(everywhere(files, bannedTextsIn)).toEqual([])
  })

  test("one word for one thing, and no suffix that says nothing", () => {
    expect(everywhere(sources, refusedVocabulary)).toEqual([])
    expect(everywhere(sources, refusedSuffixes)).toEqual([])
    expect(everywhere(sources, vagueTypes)).toEqual([])
  })

  test("files are named by their noun and never by index", () => {
    expect(everywhere(code, oddFileNames)).toEqual([])
    expect(everywhere(code, barrels)).toEqual([])
  })

  test("tests state what happens", () => {
    expect(everywhere(files.filter(isTest), wishfulTestNames)).toEqual([])
  })

  test("nothing lies at the top that nobody knows", () => {
    const folders = /^(\.ci|bench|bin|docs|examples|scripts|src|test)\//
    const dotted = /^\.(dependency-cruiser\.cjs|editorconfig|gitattributes|gitignore|npmrc)$/
    const plain = /^([A-Z]+\.md|LICENSE|(biome|knip|package|package-lock|tsconfig)\.json)$/
    const unknown = files.filter(({ path }) => ![folders, dotted, plain].some(known => known.test(path)))
    expect(unknown.map(file => file.path)).toEqual([])
  })
})

describe("the rules find what they are for", () => {
  const found = (rule: (file: TidyFile) => Finding[], text: string, path = "src/exec/some-file.ts") =>
    rule(tidyFile(path, text)).length

  test("long files and functions, with exceptions that only shrink", () => {
    const long = tidyFile(
      "src/exec/long.ts",
      `function long() {\n${"x()\n".repeat(60)}}\n${"y()\n".repeat(400)}`,
    )
    expect(oversizedFiles([long])).toHaveLength(1)
    expect(oversizedFunctions([long], {})).toHaveLength(1)
    expect(oversizedFunctions([long], { "src/exec/long.ts#long": 62 })).toHaveLength(0)
    expect(staleSizeExceptions([long], { "src/exec/long.ts#long": 62 })).toEqual([])
    expect(
      staleSizeExceptions([long], { "src/exec/long.ts#long": 63, "src/exec/gone.ts#x": 70 }),
    ).toHaveLength(2)
    const huge = tidyFile("src/exec/huge.ts", `const f = () => {\n${"x()\n".repeat(80)}}\n`)
    expect(oversizedFunctions([huge], { "src/exec/huge.ts#f": 1000 })).toHaveLength(1)
  })

  test("spread literals, but not spread values", () => {
    expect(found(spreadLiterals, "const a = { ...{ b: 1, c: 2 }, d: 3 }")).toBe(1)
    expect(found(spreadLiterals, "const a = { ...b, ...(c ? { d: 1 } : {}) }")).toBe(0)
  })

  test("types that are told", () => {
    expect(found(unsoundTypes, "const a: any = 1")).toBe(1)
    expect(found(unsoundTypes, "const a = b!.c")).toBe(1)
    expect(found(unsoundTypes, "const a = b as Session")).toBe(1)
    expect(found(unsoundTypes, "const a = b as unknown as Session")).toBe(1)
    expect(found(unsoundTypes, "const a = [1] as const")).toBe(0)
    expect(found(unsoundTypes, "const a = b as Session // decoded by the line above")).toBe(0)
    expect(found(unsoundTypes, "// The runtime types it as a triple.\nconst a = { b: b as Session }")).toBe(0)
    expect(found(unsoundTypes, "const any = 1, as = any != as")).toBe(0)
  })

  test("swallowed failures", () => {
    expect(found(silentCatches, "try { a() } catch { b() }")).toBe(1)
    expect(found(silentCatches, "try { a() } catch {\n// Gone already, which is what we want.\n}")).toBe(0)
    expect(found(silentCatches, "try { a() } catch (error) { throw wrap(error) }")).toBe(0)
  })

  test("banned texts, and only where they are banned", () => {
    for (const text of [
      "Bun.spawn([])",
      "Date.now()",
      "await fetch(url)",
      "process.env.HOME",
      "Math.random()",
      "process.exit(1)",
    ])
      expect(found(bannedTextsIn, text)).toBe(1)
    expect(found(bannedTextsIn, "Bun.spawn([])", "src/base/spawn.ts")).toBe(0)
    expect(found(bannedTextsIn, "await fetch(url)", "src/provider/transport/http.ts")).toBe(0)
    expect(found(bannedTextsIn, `await Bun.${"sleep"}(10)`, "test/exec/some.test.ts")).toBe(1)
    expect(
      found(bannedTextsIn, `await Bun.${"sleep"}(10) // longer than the deadline`, "test/exec/some.test.ts"),
    ).toBe(0)
    expect(found(bannedTextsIn, `test.${"only"}("x")`, "test/exec/some.test.ts")).toBe(1)
    expect(found(bannedTextsIn, `${"TO"}${"DO"} later`, "README.md")).toBe(1)
    expect(found(bannedTextsIn, `https://registry.${"npmjs"}.org`, "package-lock.json")).toBe(1)
    expect(found(bannedTextsIn, `cd /${"root"}/x`, "docs/cli.md")).toBe(1)
  })

  test("words and suffixes the glossary refuses", () => {
    expect(found(refusedVocabulary, "const jobCount = 1")).toBe(1)
    expect(found(refusedVocabulary, "/** The conversation so far. */")).toBe(1)
    expect(found(refusedVocabulary, "const threadId = 1", "src/store/x.ts")).toBe(1)
    expect(found(refusedVocabulary, "const threadId = 1", "src/sandbox/x.ts")).toBe(0)
    expect(found(refusedVocabulary, "// blocks in `worker_threads` are jobless")).toBe(0)
    expect(found(vagueTypes, "interface Found {}\nexport type Way = 1\ntype FoundFile = 2")).toBe(2)
    expect(found(refusedSuffixes, "export class SessionManager {}")).toBe(1)
    expect(found(refusedSuffixes, "export const a = 1, runInfo = 2")).toBe(1)
    expect(found(refusedSuffixes, "export interface Database {}\nconst aHelper = 1")).toBe(0)
  })

  test("barrels, odd names, wishes and wide comments", () => {
    expect(found(barrels, 'export { a } from "./a.ts"')).toBe(1)
    expect(found(barrels, "export const a = 1", "src/exec/index.ts")).toBe(1)
    expect(found(oddFileNames, "", "src/exec/someFile.ts")).toBe(1)
    expect(found(oddFileNames, "", "src/exec/some_file.ts")).toBe(1)
    expect(found(wishfulTestNames, `test("it ${"should"} work", () => {})`)).toBe(1)
    expect(found(wideComments, `// ${"x".repeat(121)}`)).toBe(1)
  })
})
