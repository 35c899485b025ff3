import { expect, test } from "bun:test"
import { cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import ts from "typescript"
import { protocols } from "../../src/domain/model-choice.ts"
import { repositoryRoot, runAcode } from "../support/acode.ts"
import { says } from "../support/model-server/replies.ts"
import { startModelServer } from "../support/model-server/server.ts"
import { isSource, isTypeScript, lineOf, parse, repositoryFiles, visit } from "../support/tidy/tidy-files.ts"
import { httpWorkspace } from "../support/workspace/http-workspace.ts"

const nameFile = "src/domain/model-choice.ts"
const tableFile = "src/provider/protocol.ts"

test("only the list of names, the table and the folder of a protocol name it", () => {
  const isAllowed = (path: string) =>
    path === nameFile || path === tableFile || path.startsWith("src/provider/protocols/")
  const names: readonly string[] = protocols
  const sources = repositoryFiles().filter(file => isSource(file) && isTypeScript(file))
  const lines = sources.flatMap(file => {
    const found: string[] = []
    const source = parse(file)
    visit(source, node => {
      const name = ts.isPropertyAssignment(node) ? node.name : node
      const isName = ts.isStringLiteralLike(name) || (name !== node && ts.isIdentifier(name))
      if (isName && names.includes(name.text))
        found.push(`${file.path}:${lineOf(source, name.getStart(source))}`)
    })
    return found
  })
  expect(lines.some(isAllowed)).toBe(true)
  expect(lines.filter(line => !isAllowed(line.split(":")[0] ?? ""))).toEqual([])
})

test("a protocol is added by its name, its row and its folder", async () => {
  await using server = await startModelServer({ protocol: "ollama", answer: () => says("hi") })
  const variables = { FIXTURE_KEY: "key-of-fixture" }
  using room = httpWorkspace({ endpoint: server.endpoint, variables })
  const copy = copyWithFixture(room.workspace.outside)
  const acode = (...args: readonly string[]) =>
    runAcode(args, {
      cwd: room.workspace.root,
      env: room.environment,
      // Starts the copy instead of the program that stands behind this script in the argument list.
      through: ["sh", "-c", `shift; exec "${process.execPath}" "${join(copy, "src/main.ts")}" "$@"`, "sh"],
    })

  const listed = await acode("models", "list", "--json")
  expect(JSON.parse(listed.stdout)).toMatchObject([{ id: "made-up", protocol: "fixture" }])
  expect((await acode("doctor")).stdout).toContain(
    `fixture at ${server.endpoint}, 1 model; mode local-only, FIXTURE_KEY`,
  )
  const odd = await acode("run", "x", "--model", "fixture/a b")
  expect([odd.exitCode, odd.stderr]).toEqual([
    2,
    expect.stringContaining("fixture, ollama, openai or anthropic"),
  ])
  room.configure({ endpoint: server.endpoint, model: { provider: "fixture" } })
  expect((await acode("config", "get", "model.provider")).stdout).toContain("fixture")
})

/** Copies the source, adds a protocol as CONTRIBUTING says, and returns the directory of the copy. */
function copyWithFixture(directory: string): string {
  const copy = join(directory, "copy")
  mkdirSync(copy, { recursive: true })
  for (const path of ["src", "package.json"])
    cpSync(join(repositoryRoot, path), join(copy, path), { recursive: true })
  symlinkSync(join(repositoryRoot, "node_modules"), join(copy, "node_modules"))
  insert(join(copy, nameFile), "export const windowRules = {", ' fixture: "requested",')
  insert(
    join(copy, tableFile),
    "export const protocolTable: Readonly<Record<Protocol, ProtocolRow>> = {",
    `fixture: {
      open: async transport => (await import("./protocols/fixture/server.ts")).createFixture(transport),
      company: null, usualServers: [], keyVariable: "FIXTURE_KEY", addressVariable: null,
      mark: { path: "/api/tags", isIn: () => true },
      normalName: name => name, ownModels: null, hasOnlyLargeModels: false,
    },`,
  )
  const folder = join(copy, "src/provider/protocols/fixture")
  mkdirSync(folder)
  writeFileSync(
    join(folder, "server.ts"),
    `import type { ModelServer } from "../../server.ts"
    import type { Transport } from "../../transport/contract.ts"
    import { createOllama } from "../ollama/server.ts"
    export function createFixture(transport: Transport): ModelServer {
      const models = async () => ({ value: [{ name: "made-up", details: "", isLoaded: null }] })
      return { ...createOllama(transport), protocol: "fixture", models }
    }`,
  )
  return copy
}

function insert(file: string, behind: string, text: string): void {
  const before = readFileSync(file, "utf8")
  expect(before.split(behind)).toHaveLength(2)
  writeFileSync(file, before.replace(behind, `${behind}${text}`))
}
