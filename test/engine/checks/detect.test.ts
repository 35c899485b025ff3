import { describe, expect, test } from "bun:test"
import { detectTestCommand, projectFiles, projectOf } from "../../../src/engine/checks/project.ts"
import { gateRoom } from "../../support/plan/gate-room.ts"

const noChecks = () => ({ commands: [], missing: [] })

function detected(files: Readonly<Record<string, string>>) {
  using room = gateRoom({ files })
  return detectTestCommand(projectFiles(room.workspace))
}

const script = (test: string, more: object = {}) => JSON.stringify({ scripts: { test }, ...more })
const jest = script("jest")

describe("the test command of a project", () => {
  test.each<[string, Readonly<Record<string, string>>, readonly string[]]>([
    ["npm by default", { "package.json": jest }, ["npm", "test"]],
    ["npm with its lockfile", { "package.json": jest, "package-lock.json": "{}" }, ["npm", "test"]],
    ["pnpm with its lockfile", { "package.json": jest, "pnpm-lock.yaml": "" }, ["pnpm", "test"]],
    ["yarn with its lockfile", { "package.json": jest, "yarn.lock": "" }, ["yarn", "test"]],
    ["bun with its lockfile", { "package.json": jest, "bun.lock": "" }, ["bun", "run", "test"]],
    ["bun with its old lockfile", { "package.json": jest, "bun.lockb": "" }, ["bun", "run", "test"]],
    [
      "what the manifest names where there is no lockfile",
      { "package.json": script("vitest", { packageManager: "pnpm@9.1.0" }) },
      ["pnpm", "test"],
    ],
    [
      "the lockfile before the manifest",
      { "package.json": script("vitest", { packageManager: "pnpm@9.1.0" }), "yarn.lock": "" },
      ["yarn", "test"],
    ],
    [
      "bun's own tests without a script",
      { "package.json": "{}", "bun.lock": "", "src/a.test.ts": "" },
      ["bun", "test"],
    ],
    ["cargo", { "Cargo.toml": "" }, ["cargo", "test"]],
    ["go", { "go.mod": "" }, ["go", "test", "./..."]],
    ["dotnet by a solution", { "App.sln": "" }, ["dotnet", "test"]],
    ["dotnet by a project", { "App.csproj": "" }, ["dotnet", "test"]],
    ["make", { Makefile: "all:\n\techo\n\ntest: all\n\techo\n" }, ["make", "test"]],
    ["make with several targets in a rule", { makefile: "check test:\n\techo\n" }, ["make", "test"]],
    ["pytest by its file", { "pytest.ini": "" }, ["pytest"]],
    ["pytest by pyproject", { "pyproject.toml": "[tool.pytest.ini_options]\n" }, ["pytest"]],
    ["pytest by setup.cfg", { "setup.cfg": "[tool:pytest]\n" }, ["pytest"]],
    ["pytest by tox.ini", { "tox.ini": "[pytest]\n" }, ["pytest"]],
    ["pytest by the names of tests", { "tests/unit/test_a.py": "" }, ["pytest"]],
    ["pytest by a test beside the code", { "test_a.py": "" }, ["pytest"]],
    [
      "cargo where the script of npm is the empty one",
      { "package.json": script('echo "Error: no test specified" && exit 1'), "Cargo.toml": "" },
      ["cargo", "test"],
    ],
    ["npm where there is also a Makefile", { "package.json": jest, Makefile: "test:\n" }, ["npm", "test"]],
  ])("is %s", (_what, files, argv) => {
    expect(detected(files)).toEqual(argv)
  })

  test.each<[string, Readonly<Record<string, string>>]>([
    ["in an empty workspace", {}],
    ["with npm's default script", { "package.json": script('echo "Error: no test specified" && exit 1') }],
    ["with an empty script", { "package.json": script("  ") }],
    ["with a script that is no text", { "package.json": '{"scripts": {"test": 1}}' }],
    ["with a manifest that is no JSON", { "package.json": "{scripts" }],
    ["with a manifest that is a list", { "package.json": "[]" }],
    [
      "with a Makefile whose test is a variable",
      { Makefile: "test := x\ntest = y\nall:\n\techo test: no\n" },
    ],
    ["with a Makefile whose rule is only like it", { Makefile: "test-all:\n\techo\nlatest:\n\techo\n" }],
    ["with a pyproject without tests", { "pyproject.toml": "[project]\nname = 'x'\n" }],
    ["with a manifest further down", { "web/package.json": jest, "rust/Cargo.toml": "" }],
  ])("is unknown %s", (_what, files) => {
    expect(detected(files)).toBeNull()
  })
})

describe("how a project checks itself", () => {
  const none = { setup: null, build: null, test: null, lint: null, format: null, start: null }

  test("is as configured, whatever its files suggest", () => {
    using room = gateRoom({ files: { "Cargo.toml": "" } })
    const configured = { ...none, test: ["just", "check"], build: ["make"], lint: ["eslint", "."] }
    expect(projectOf(configured, room.workspace, noChecks)).toMatchObject({
      test: ["just", "check"],
      check: ["eslint", "."],
    })
  })

  test("is found for tests and never guessed for diagnostics", () => {
    using room = gateRoom({ files: { "Cargo.toml": "" } })
    expect(projectOf(none, room.workspace, noChecks)).toMatchObject({ test: ["cargo", "test"], check: null })
    expect(projectOf({ ...none, build: ["make"] }, room.workspace, noChecks).check).toEqual(["make"])
  })
})
