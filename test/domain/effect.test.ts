import { describe, expect, test } from "bun:test"
import {
  decisions,
  effectCategories,
  emptyGrant,
  levelLabels,
  pathEffectKinds,
} from "../../src/domain/effect.ts"

describe("the vocabulary of effects", () => {
  test("has the categories people configure", () => {
    expect(effectCategories).toEqual([
      "FILE_READ",
      "FILE_WRITE",
      "FILE_DELETE",
      "DIRECTORY_CREATE",
      "TERMINAL_COMMAND",
      "EXTERNAL_REQUEST",
    ])
  })

  test("has three answers and four levels", () => {
    expect(decisions).toEqual(["allow", "ask", "deny"])
    expect(Object.keys(levelLabels)).toEqual(["1", "2", "3", "4"])
    expect(levelLabels[4]).toBe("never allowed")
  })

  test("knows what can be done to a path", () => {
    expect(pathEffectKinds).toEqual(["read", "write", "delete", "list", "createDirectory"])
  })

  test("starts from a grant that grants nothing and cannot be widened in place", () => {
    expect(emptyGrant).toEqual({
      write: [],
      commands: [],
      hosts: [],
      exact: [],
      isUnconfined: false,
      isUnseen: false,
    })
    expect(Object.isFrozen(emptyGrant)).toBe(true)
  })
})
