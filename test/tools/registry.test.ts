import { describe, expect, test } from "bun:test"
import { resolveTool } from "../../src/tools/aliases.ts"
import { checkArguments, toolTable } from "../../src/tools/registry.ts"

/** Each problem as `argument message`, missing ones with a star. */
function problems(name: string, args: unknown): string[] {
  const resolved = resolveTool(name)
  if (resolved.kind !== "tool") throw new Error(`${name} is ${resolved.kind}`)
  return checkArguments(resolved, args).map(
    ({ argument, message, missing }) => `${missing ? "*" : ""}${argument} ${message}`,
  )
}

const surplus = "is not an argument of this tool"
const bothOrNone = "edits and patch: exactly one of them has to be given"

describe("arguments", () => {
  const wrong: readonly (readonly [string, unknown, readonly string[]])[] = [
    ["read_file", {}, ["*path is required"]],
    ["read_file", { path: 7 }, ["path must be text"]],
    ["read_file", { path: null }, ["path must be text"]],
    ["read_file", { path: "" }, ["path must not be empty"]],
    ["read_file", { path: "a", from_line: 0 }, ["from_line must be at least 1"]],
    ["read_file", { path: "a", from_line: 1.5 }, ["from_line must be a whole number"]],
    ["read_file", { path: "a", from_line: "1" }, ["from_line must be a number"]],
    ["read_file", { path: "a", line_count: true }, ["line_count must be a number"]],
    ["write_file", {}, ["*path is required", "*content is required"]],
    ["write_file", { path: "a", content: 1, mode: 7 }, ["content must be text", `mode ${surplus}`]],
    ["create_file", { path: "a" }, ["*content is required"]],
    ["modify_file", { path: "a" }, [bothOrNone]],
    ["modify_file", { path: "a", edits: [{ search: "a", replace: "b" }], patch: "x" }, [bothOrNone]],
    ["modify_file", { edits: [] }, ["*path is required", "edits must not be empty"]],
    [
      "modify_file",
      { path: "a", edits: [{ search: "", replace: 1, all: true }] },
      ["edits[0].search must not be empty", "edits[0].replace must be text", `edits[0].all ${surplus}`],
    ],
    ["modify_file", { path: "a", patch: "" }, ["patch must not be empty"]],
    ["delete_file", { paths: [] }, ["paths must not be empty"]],
    ["delete_file", { paths: "a" }, ["paths must be a list"]],
    ["delete_file", { paths: ["a", 2] }, ["paths[1] must be text"]],
    ["list_directory", { path: ".", depth: 0 }, ["depth must be at least 1"]],
    ["list_directory", { path: ".", depth: 1000 }, ["depth must be at most 20"]],
    ["search_code", {}, ["*pattern is required"]],
    ["search_code", { pattern: "" }, ["pattern must not be empty"]],
    ["glob", { pattern: 1, path: 2 }, ["pattern must be text", "path must be text"]],
    ["run_command", { argv: [] }, ["argv must not be empty"]],
    ["run_command", { argv: "ls" }, ["argv must be a list"]],
    ["run_command", { argv: ["ls"], network: "lan" }, ["network must be one of none, host, hosts"]],
    ["run_command", { argv: ["ls"], timeout_seconds: -1 }, ["timeout_seconds must be more than 0"]],
    ["run_command", { argv: ["ls"], env: {} }, [`env ${surplus}`]],
    ["run_terminal", {}, ["*command is required"]],
    ["run_terminal", { command: "ls", cwd: "x" }, [`cwd ${surplus}`]],
    ["file_search", { pattern: "x" }, ["*root is required"]],
  ]

  test.each(wrong)("%s %j is told all of what is wrong", (name, args, expected) => {
    expect(problems(name, args).sort()).toEqual([...expected].sort())
  })

  test("what is no object is wrong as a whole", () => {
    for (const args of [null, [], "path", 3, undefined])
      for (const name of toolTable.keys()) {
        const [first] = problems(name, args)
        expect(first).toEndWith("must be an object")
      }
  })

  test("an argument that is there and undefined is not a missing one", () => {
    expect(problems("read_file", { path: undefined })).toEqual(["path must be text"])
  })

  test("a name with an escape in it is told in a form a terminal does not act on", () => {
    expect(problems("read_file", { path: "a", "\u001b[2J": 1 })).toEqual([`\\x1b[2J ${surplus}`])
  })

  test("good arguments have no problems", () => {
    expect(problems("read_file", { path: "a", from_line: 3, line_count: 4 })).toEqual([])
    expect(problems("modify_file", { path: "a", patch: "@@" })).toEqual([])
    expect(
      problems("run_command", { argv: ["a", ""], cwd: "b", timeout_seconds: 0.5, network: "host" }),
    ).toEqual([])
  })
})

describe("tools tell a model about themselves", () => {
  test("each has a description, and each required argument is one of its schema", () => {
    for (const tool of toolTable.values()) {
      expect(tool.description.length).toBeGreaterThan(40)
      expect(tool.required.length).toBeGreaterThan(0)
      const missing = checkArguments(tool, {}).filter(problem => problem.missing)
      expect(missing.map(({ argument }) => argument)).toEqual([...tool.required])
    }
  })
})
