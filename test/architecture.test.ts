import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { knownRooms, layerReport, unseenModules } from "../scripts/layer-report.ts"
import { repositoryRoot } from "./support/acode.ts"

describe("the layer table", () => {
  test("is kept by every module of the product", async () => {
    const { modules, violations } = await layerReport(repositoryRoot)
    expect(violations).toEqual([])
    expect(await unseenModules(repositoryRoot, modules)).toEqual([])
    expect(modules.length).toBeGreaterThan(40)
  })

  test("knows every room there is, and ARCHITECTURE.md tells about each", async () => {
    const rooms = await knownRooms()
    const present = readdirSync(join(repositoryRoot, "src"), { withFileTypes: true }).filter(entry =>
      entry.isDirectory(),
    )
    const map = readFileSync(join(repositoryRoot, "ARCHITECTURE.md"), "utf8")
    for (const { name } of present) {
      expect(rooms).toContain(name)
      expect(map).toMatch(new RegExp(`^ +${name}/ +L\\d`, "m"))
    }
  })
})

describe("a path that a page names exists", () => {
  const maps = ["ARCHITECTURE.md", "CONTRIBUTING.md", "STYLE.md", "test/support/README.md"]
  const pages = [
    ...maps,
    "docs/threat-model.md",
    ...new Bun.Glob("src/*/README.md").scanSync({ cwd: repositoryRoot }),
  ]
  test.each(pages)("%s", page => {
    const text = readFileSync(join(repositoryRoot, page), "utf8")
    const paths = page === "ARCHITECTURE.md" ? [...mapped(text), ...walked(text)] : []
    // Other pages also name paths of the user's workspace.
    const ofRepository = quoted(text).filter(
      path => maps.includes(page) || /^(src|test|bench|scripts)\//.test(path),
    )
    const missing = [...paths, ...ofRepository].filter(path => !places(path, dirname(page)).some(existsAs))
    expect(missing).toEqual([])
    if (page === "ARCHITECTURE.md") expect(paths.length).toBeGreaterThan(100)
  })

  /** The folders of the map: each line names a folder, and the folders and files in it. */
  function mapped(text: string): string[] {
    let folder = ""
    const map = /^src\/\n([\s\S]*?)^```/m.exec(text)?.[1] ?? ""
    return map.split("\n").flatMap(line => {
      folder = /^ {2}([a-z-]+)\/ /.exec(line)?.[1] ?? folder
      const inside = [...line.slice(15).matchAll(/(?<![\w.])([a-z-]+(?:\/[a-z{},-]+)*)\/|\b([a-z-]+\.ts)\b/g)]
      return [folder, ...inside.map(([, directory, file]) => `${folder}/${directory ?? file}`)].flatMap(
        braced,
      )
    })
  }

  /** The files of the walks, each as `folder/file` at the place where it acts. */
  function walked(text: string): string[] {
    return [...text.matchAll(/^```\n([\s\S]*?)^```/gm)].flatMap(([, block = ""]) =>
      block.startsWith("src/")
        ? []
        : [...block.matchAll(/\b[a-z]+(?:\/(?:[a-z-]+|\{[a-z,]+\}))+/g)].flatMap(([path]) => braced(path)),
    )
  }

  function quoted(text: string): string[] {
    return [...text.matchAll(/`([\w.{},*-]+\/[\w./{},*-]*)`/g)].flatMap(([, path = ""]) => braced(path))
  }

  function braced(path: string): string[] {
    const [whole = "", choices = ""] = /\{([^}]*)\}/.exec(path) ?? []
    return whole === "" ? [path] : choices.split(",").flatMap(choice => braced(path.replace(whole, choice)))
  }

  function places(path: string, beside: string): string[] {
    return [path, join("src", path), join(beside, path)].flatMap(place => [place, `${place}.ts`])
  }

  function existsAs(path: string): boolean {
    return (
      [...new Bun.Glob(path.replace(/\/$/, "")).scanSync({ cwd: repositoryRoot, onlyFiles: false })].length >
      0
    )
  }
})

describe("an import that breaks a rule is found", () => {
  let planted = ""
  beforeAll(() => {
    planted = mkdtempSync(join(tmpdir(), "acode-layers-"))
  })
  afterAll(() => rmSync(planted, { recursive: true, force: true }))

  /** Each case is a tree of its own: the importing file, and what it imports. */
  const cases: readonly (readonly [rule: string, from: string, to: string])[] = [
    ["base-imports-down-only", "src/base/a.ts", "../domain/b.ts"],
    ["domain-imports-down-only", "src/domain/a.ts", "../store/b.ts"],
    ["store-imports-down-only", "src/store/a.ts", "../policy/contract.ts"],
    ["policy-imports-down-only", "src/policy/a.ts", "../exec/contract.ts"],
    ["sandbox-imports-down-only", "src/sandbox/a.ts", "../workspace/contract.ts"],
    ["workspace-imports-down-only", "src/workspace/a.ts", "../code/b.ts"],
    ["provider-imports-down-only", "src/provider/a.ts", "../store/contract.ts"],
    ["exec-imports-down-only", "src/exec/a.ts", "../app/b.ts"],
    ["tools-imports-down-only", "src/tools/a.ts", "../gate/b.ts"],
    ["gate-imports-down-only", "src/gate/a.ts", "../engine/b.ts"],
    ["engine-imports-down-only", "src/engine/a.ts", "../skills/b.ts"],
    ["app-imports-down-only", "src/app/a.ts", "../cli/b.ts"],
    ["cli-imports-down-only", "src/cli/a.ts", "../main.ts"],
    ["server-imports-down-only", "src/server/a.ts", "../cli/b.ts"],
    ["domain-is-pure", "src/domain/a.ts", "../base/clock.ts"],
    ["domain-is-pure", "src/domain/a.ts", "node:fs"],
    ["domain-is-pure", "src/domain/a.ts", "bun:sqlite"],
    ["adapters-through-their-contract", "src/exec/a.ts", "../policy/redactor.ts"],
    ["adapters-through-their-contract", "src/cli/a.ts", "../store/database.ts"],
    ["adapters-through-their-contract", "src/tools/a.ts", "../workspace/change/patch.ts"],
    ["one-way-to-start-a-process", "src/app/a.ts", "../base/spawn.ts"],
    ["one-way-to-start-a-process", "src/store/a.ts", "../base/spawn.ts"],
    ["no-child-process", "src/exec/a.ts", "node:child_process"],
    ["two-ways-out", "src/exec/a.ts", "node:net"],
    ["sql-lives-in-store", "src/app/a.ts", "bun:sqlite"],
    ["product-does-not-know-its-tests", "src/app/a.ts", "../../test/b.ts"],
    ["known-rooms-only", "src/utils/a.ts", "../base/assert.ts"],
    ["main-starts-a-surface", "src/main.ts", "./store/b.ts"],
    ["version-is-a-leaf", "src/version.ts", "./base/assert.ts"],
    ["no-cycles", "src/exec/a.ts", "./a-other.ts"],
    ["no-unresolved-import", "src/exec/a.ts", "./missing.ts"],
  ]

  test.each(cases)("%s: %s imports %s, as a type only", async (rule, from, to) => {
    const root = mkdtempSync(join(planted, "tree-"))
    const write = (path: string, text: string) => {
      mkdirSync(dirname(join(root, path)), { recursive: true })
      writeFileSync(join(root, path), text)
    }
    write(from, `import type { Thing } from "${to}"\nexport type Other = Thing\n`)
    const target = join(dirname(from), to)
    const back = rule === "no-cycles" ? `export type { Other } from "./a.ts"\n` : ""
    if (to.startsWith(".") && rule !== "no-unresolved-import") write(target, `${back}export type Thing = 1\n`)
    const { violations } = await layerReport(root)
    expect(violations.filter(violation => violation.startsWith(`${rule}: `)).length).toBeGreaterThan(0)
  })

  test("and what the table allows is not", async () => {
    const root = mkdtempSync(join(planted, "tree-"))
    const files = {
      "src/base/assert.ts": "export const assert = 1\n",
      "src/base/spawn.ts": 'import { assert } from "./assert.ts"\nexport const spawn = assert\n',
      "src/domain/command.ts": 'export { assert } from "../base/assert.ts"\n',
      "src/sandbox/contract.ts": 'export { assert } from "../domain/command.ts"\n',
      "src/workspace/change/contract.ts": 'export { assert } from "../../domain/command.ts"\n',
      "src/exec/runner.ts":
        'import "../base/spawn.ts"\nimport "../sandbox/contract.ts"\nexport const run = 1\n',
      "src/exec/edit.ts": 'import "../workspace/change/contract.ts"\nexport const edit = 1\n',
      "src/app/wire.ts": 'import "../exec/runner.ts"\nimport "../sandbox/contract.ts"\n',
      "src/cli/main.ts": 'import "../app/wire.ts"\n',
      "src/main.ts": 'await import("./cli/main.ts")\n',
    }
    for (const [path, text] of Object.entries(files)) {
      mkdirSync(dirname(join(root, path)), { recursive: true })
      writeFileSync(join(root, path), text)
    }
    const { modules, violations } = await layerReport(root)
    expect(violations).toEqual([])
    expect([...modules].sort()).toEqual(Object.keys(files).sort())
    writeFileSync(join(root, "src/exec/orphan.ts"), "export {}\n")
    expect(await unseenModules(root, modules)).toEqual(["src/exec/orphan.ts"])
  })
})
