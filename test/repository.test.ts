import { describe, expect, test } from "bun:test"
import { accessSync, constants, existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { docPages } from "../scripts/doc-pages.ts"
import { cliCommands } from "../src/cli/commands/table.ts"
import { errorCodes } from "../src/domain/error-codes.ts"
import { repositoryRoot } from "./support/acode.ts"
import { unmadeCodes } from "./support/declared/declared-exceptions.ts"
import { isSource, repositoryFiles } from "./support/tidy/tidy-files.ts"

const read = (path: string) => readFileSync(join(repositoryRoot, path), "utf8")
const manifest: PackageManifest = JSON.parse(read("package.json"))
const lock: Lockfile = JSON.parse(read("package-lock.json"))

interface PackageManifest {
  readonly engines: Readonly<Record<string, string>>
  readonly scripts: Readonly<Record<string, string>>
  readonly dependencies: Readonly<Record<string, string>>
  readonly devDependencies: Readonly<Record<string, string>>
}

interface Lockfile {
  readonly packages: Readonly<Record<string, LockedPackage>>
}

interface LockedPackage {
  readonly version?: string
  readonly resolved?: string
  readonly dependencies?: Readonly<Record<string, string>>
  readonly optionalDependencies?: Readonly<Record<string, string>>
  readonly engines?: Readonly<Record<string, string>>
}

describe("what is installed", () => {
  test("is pinned to the digit", () => {
    const versions = Object.values({ ...manifest.dependencies, ...manifest.devDependencies })
    expect(versions.filter(version => !/^\d+\.\d+\.\d+$/.test(version))).toEqual([])
  })

  test("is all in the lockfile, packages for other platforms too, or npm ci refuses it", () => {
    const missing = Object.entries(lock.packages).flatMap(([path, { dependencies, optionalDependencies }]) =>
      Object.keys({ ...dependencies, ...optionalDependencies }).filter(
        name =>
          !(`${path}/node_modules/${name}` in lock.packages) && !(`node_modules/${name}` in lock.packages),
      ),
    )
    expect(missing).toEqual([])
  })

  test("is made for the oldest Node that is promised, or npm ci warns about each package that is not", () => {
    const refusing = Object.entries(lock.packages).filter(
      ([, { engines }]) => !Bun.semver.satisfies("20.19.0", engines?.["node"] ?? "*"),
    )
    expect(refusing.map(([path, { engines }]) => `${path}: ${engines?.["node"]}`)).toEqual([])
    expect(manifest.engines).toEqual({ node: ">=20" })
  })

  test("comes from whatever registry the machine uses", () => {
    expect(Object.values(lock.packages).filter(entry => entry.resolved !== undefined)).toEqual([])
  })
})

describe("what the documents tell people to type", () => {
  const documents = ["README.md", "CONTRIBUTING.md"].filter(path => existsSync(join(repositoryRoot, path)))
  const typed = documents.flatMap(path => [
    ...read(path).matchAll(/(?:^|[`;&|]\s*|\n)((?:npx )?(?:acode|npm) [^\n`;&|]*)/g),
  ])
  const lines = typed.map(([, line = ""]) => line.replace(/^npx /, "").trim())

  test("exists as a script of the package", () => {
    const scripts = lines.flatMap(line => /^npm (?:run )?([a-z]+)/.exec(line)?.[1] ?? [])
    const known = [...Object.keys(manifest.scripts), "ci", "run", "pack", "install"]
    expect(scripts.length).toBeGreaterThan(4)
    expect(scripts.filter(name => !known.includes(name))).toEqual([])
  })

  test("exists as a command of the program", () => {
    const words = lines.flatMap(
      line => /^acode ((?:-C \S+ )?)([a-z]+)(?: ([a-z]+))?/.exec(line)?.slice(2) ?? [],
    )
    const verbs = words.filter((_, index) => index % 2 === 0)
    const known = new Set(cliCommands.map(command => command.name.split(" ")[0]))
    expect(verbs.filter(verb => !known.has(verb))).toEqual([])
  })
})

test("every script that is started by its name can be started", () => {
  for (const path of [
    "bin/acode",
    ".ci/run",
    "scripts/check",
    "scripts/test",
    "scripts/build",
    "scripts/with-bun",
    "scripts/without",
  ])
    expect(() => accessSync(join(repositoryRoot, path), constants.X_OK)).not.toThrow()
})

test("docs/ is what the code says", () => {
  for (const [name, text] of docPages()) expect(read(`docs/${name}`)).toBe(text)
})

test("every error code the program uses is explained, and every explained one is used", () => {
  const sources = repositoryFiles().filter(
    file => isSource(file) && file.path !== "src/domain/error-codes.ts",
  )
  const used = new Set(
    sources.flatMap(file => file.text.match(/ACODE-[A-Z]+-\d{3}|(?<=")E\d{3}(?=")/g) ?? []),
  )
  const explained = Object.keys(errorCodes)
  expect([...used].filter(code => !explained.includes(code))).toEqual([])
  expect(explained.filter(code => !used.has(code))).toEqual(Object.keys(unmadeCodes))
})

describe("the threat model", () => {
  const page = read("docs/threat-model.md")

  test("names tests that exist, at least one in each line about a threat", () => {
    const named = [...page.matchAll(/`(test\/[^`]+)`/g)].map(([, path = ""]) => path)
    expect(named.length).toBeGreaterThan(40)
    expect(
      named.filter(path => !path.endsWith(".test.ts") || !existsSync(join(repositoryRoot, path))),
    ).toEqual([])
    const threats = page
      .split("\n")
      .filter(line => /^\| (?!who|threat|---)/.test(line) && line.split(" | ").length === 3)
    expect(threats.length).toBeGreaterThan(25)
    expect(threats.filter(line => !/\| `test\/[^|]+ \|$/.test(line))).toEqual([])
  })

  test("says what is not covered, and is found from the first page", () => {
    expect(page).toContain("## What is not covered")
    expect(read("README.md")).toContain("(docs/threat-model.md)")
  })
})
