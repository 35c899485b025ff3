import { describe, expect, test } from "bun:test"
import type { Json } from "../../src/base/canonical.ts"
import { type KnownTool, resolveTool } from "../../src/tools/aliases.ts"
import { type ArgumentRules, checkArguments, toolTable } from "../../src/tools/registry.ts"

function known(name: string): KnownTool {
  const resolved = resolveTool(name)
  if (resolved.kind !== "tool") throw new Error(`${name} is ${resolved.kind}`)
  return resolved
}

describe("names of tools", () => {
  test("every tool is found by its own name and takes its arguments as they are", () => {
    for (const name of toolTable.keys()) {
      const args = { path: "a", content: "b" }
      expect(known(name).tool.name).toBe(name)
      expect(known(name).rename(args)).toBe(args)
    }
  })

  const plan: readonly (readonly [string, string, Json, Json])[] = [
    ["file_read", "read_file", { path: "a" }, { path: "a" }],
    ["file_write", "write_file", { path: "a", contents: "b" }, { path: "a", content: "b" }],
    ["file_create", "create_file", { path: "a", contents: "b" }, { path: "a", content: "b" }],
    ["file_search", "search_code", { pattern: "x", root: "src" }, { pattern: "x", path: "src" }],
    ["file_glob", "glob", { pattern: "*.ts", root: "src" }, { pattern: "*.ts", path: "src" }],
  ]

  test.each(plan)("%s is %s with arguments of its own", (name, canonical, given, passed) => {
    const resolved = known(name)
    expect(resolved.tool.name).toBe(canonical)
    expect(checkArguments(resolved, given)).toEqual([])
    expect(resolved.rename(given)).toEqual(passed)
    expect(checkArguments(resolved.tool, resolved.rename(given))).toEqual([])
  })

  test.each(plan)("%s needs each of its arguments and takes no others", (name, _canonical, given) => {
    const resolved = known(name)
    expect(checkArguments(resolved, {}).map(({ argument, missing }) => [argument, missing])).toEqual(
      Object.keys(given ?? {}).map(argument => [argument, true]),
    )
    const surplus = { ...Object(given), from_line: 1 }
    expect(checkArguments(resolved, surplus)).toEqual([
      { argument: "from_line", message: "is not an argument of this tool", missing: false },
    ])
  })

  test.each(plan)("%s refuses what %s refuses", (name, _canonical, given) => {
    const resolved = known(name)
    for (const argument of Object.keys(given ?? {}))
      for (const value of ["", 7, null, ["a"]] as const) {
        const args = { ...Object(given), [argument]: value }
        const told = (rules: ArgumentRules, of: unknown) =>
          checkArguments(rules, of).map(({ message }) => message)
        expect(told(resolved, args)).toEqual(told(resolved.tool, resolved.rename(args)))
      }
    expect(
      checkArguments(resolved, { ...Object(given), [Object.keys(given ?? {})[0] ?? ""]: "" }),
    ).toHaveLength(1)
  })

  test("a plan name does not take the argument names of the tool behind it", () => {
    expect(checkArguments(known("file_write"), { path: "a", content: "b" })).toEqual([
      { argument: "contents", message: "is required", missing: true },
      { argument: "content", message: "is not an argument of this tool", missing: false },
    ])
  })

  test("the values of renamed arguments are the very values that were given", () => {
    const contents = "  $HOME\r\n\u202e "
    expect(known("file_write").rename({ path: "../x", contents })).toEqual({
      path: "../x",
      content: contents,
    })
    expect(known("file_write").rename(null)).toBeNull()
  })

  test("finish_step is known and is no tool", () => {
    expect(resolveTool("finish_step").kind).toBe("unavailable")
    expect(toolTable.has("finish_step")).toBe(false)
  })

  test("a mistyped name is answered with the nearest one", () => {
    expect(resolveTool("read_fil")).toEqual({ kind: "unknown", nearest: "read_file" })
    expect(resolveTool("file_wrte")).toEqual({ kind: "unknown", nearest: "file_write" })
    expect(resolveTool("format_the_disk")).toEqual({ kind: "unknown", nearest: null })
  })

  test("what every object has is no tool", () => {
    for (const name of ["constructor", "__proto__", "toString", ""])
      expect(resolveTool(name).kind).toBe("unknown")
  })
})
