import { describe, expect, test } from "bun:test"
import { basename, dirname } from "node:path"
import { nameOf, parentOf } from "../../src/base/path-names.ts"

describe("the parts of a path", () => {
  test.each(["a", "a/b", "a/b/c.txt", "a/", "a/b//", "./a", "a/./b", "../a", "a/..", ".", "a b/ü.txt"])(
    "of %s are those of node:path",
    path => {
      expect([parentOf(path), nameOf(path)]).toEqual([dirname(path), basename(path)])
    },
  )

  test("keep bytes that are no UTF-8", () => {
    expect([parentOf("d\udcff/x\udc80"), nameOf("d\udcff/x\udc80")]).toEqual(["d\udcff", "x\udc80"])
  })
})
