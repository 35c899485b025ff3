import { describe, expect, test } from "bun:test"
import { deletesEverything, unwrapFind } from "../../../src/policy/programs/find.ts"
import { findingsOf, layer, touchesOf, unmarked } from "../policy-kit.ts"

const found = (command: string) => {
  const judged = layer(command)
  const inner = unwrapFind(judged)
  return {
    inner: inner.map(next => (next.kind === "argv" ? next.argv.map(unmarked).join(" ") : "")),
    findings: findingsOf(judged),
    touches: touchesOf(judged),
  }
}

describe("find", () => {
  test.each([
    "find",
    "find .",
    "find . -name x",
    "find a b -type f",
    "find . -mtime -1 -o -size +1M",
    "find . ( -name a -or -name b ) -print0",
    "find -L . -maxdepth 2",
    "find . -not -path ./x -prune",
    "find . -newermt 2020-01-01",
    "find . -name {?}",
  ])("%s only looks", command => {
    expect(found(command)).toMatchObject({ inner: [], findings: [] })
  })

  test("lists the places it starts from", () => {
    expect(found("find a b -name c").touches).toEqual(["list a@1", "list b@2"])
  })

  test("starts programs with what it finds", () => {
    expect(found("find . -exec grep x {} +").inner).toEqual(["grep x ./{?}"])
    expect(found("find . -exec a {} ; -execdir b {} ;").inner).toEqual(["a ./{?}", "b ./{?}"])
    expect(found("find . -ok rm {} ;").inner).toEqual(["rm ./{?}"])
    expect(found("find . -exec a").inner).toEqual(["a"])
  })

  test("that deletes is asked", () => {
    expect(found("find . -name x -delete").findings).toEqual(["ask commands.files@4"])
  })

  test("that writes says where", () => {
    expect(found("find . -fprint out").touches).toEqual(["list .@1", "write out@2"])
    expect(found("find . -fprintf out %p").touches).toContain("write out@2")
  })

  test("with an action nobody knows is asked", () => {
    expect(found("find . -strange").findings).toEqual(["ask commands.option@2"])
    expect(found("find . -files0-from x").findings).toContain("ask commands.option@2")
    expect(found("find . {??}").findings).toEqual(["ask commands.dynamic-option@2"])
  })
})

test("deleting is narrowed by a name, a time or a size", () => {
  expect(deletesEverything(["find", ".", "-delete"])).toBe(true)
  expect(deletesEverything(["find", ".", "-type", "f", "-delete"])).toBe(true)
  expect(deletesEverything(["find", ".", "-name", "x", "-delete"])).toBe(false)
  expect(deletesEverything(["find", ".", "-empty", "-delete"])).toBe(false)
})
