import { expect, test } from "bun:test"
import { ancestorsBelow, byDepth, isWithin } from "../../../src/sandbox/tree/paths.ts"

test("a path is within a directory by whole names only", () => {
  expect(isWithin("/a/b", "/a/b")).toBe(true)
  expect(isWithin("/a/b/c", "/a/b")).toBe(true)
  expect(isWithin("/a/bc", "/a/b")).toBe(false)
  expect(isWithin("/a", "/a/b")).toBe(false)
  expect(isWithin("/anything", "/")).toBe(true)
})

test("the ancestors between a root and a path leave both out", () => {
  expect(ancestorsBelow("/w/a/b/c", "/w")).toEqual(["/w/a", "/w/a/b"])
  expect(ancestorsBelow("/w/a", "/w")).toEqual([])
})

test("parents sort before what is in them", () => {
  expect(["/b/c/d", "/a/z", "/b", "/a"].sort(byDepth)).toEqual(["/a", "/b", "/a/z", "/b/c/d"])
})
