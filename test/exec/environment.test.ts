import { describe, expect, test } from "bun:test"
import { appliedVariables, childEnvironment, type EnvironmentRequest } from "../../src/exec/environment.ts"
import { environmentRules as rules } from "../../src/redaction/secret-names.ts"

const host = {
  PATH: "/usr/bin",
  HOME: "/home/somebody",
  EDITOR: "vi",
  API_TOKEN: "t0ps3cret",
  AWS_SECRET_ACCESS_KEY: "s",
  DATABASE_URL: "postgres://u:p@h/d",
  LD_PRELOAD: "/evil.so",
  NODE_OPTIONS: "--require evil",
  BASH_ENV: "/evil.sh",
  PROJECT_NAME: "acode",
  ACODE_EXECUTION_ID: "exe_outer",
}

const tag = { ACODE_EXECUTION_ID: "exe_1" }

function environment(more: Partial<EnvironmentRequest> = {}): Record<string, string> {
  return {
    ...childEnvironment({
      executionId: "exe_1",
      owner: "person",
      mode: "inherit",
      host,
      command: {},
      exclude: [],
      include: [],
      rules,
      redactText: text => text,
      ...more,
    }),
  }
}

const passed = { PATH: "/usr/bin", HOME: "/home/somebody", EDITOR: "vi", PROJECT_NAME: "acode" }

describe("the environment of a command", () => {
  test("has no secret of the host and nothing that makes programs load something", () => {
    expect(environment()).toEqual({ ...passed, ...tag })
    expect(environment({ mode: "merge" })).toEqual({ ...passed, ...tag })
  })

  test("carries the id of the execution, whatever the host or the command says", () => {
    expect(environment({ mode: "merge", command: { ACODE_EXECUTION_ID: "mine" } })).toMatchObject(tag)
    expect(environment({ mode: "replace", host: {}, command: { ACODE_EXECUTION_ID: null } })).toEqual(tag)
  })

  test("leaves out what the configuration excludes as well", () => {
    const { EDITOR: _, PROJECT_NAME: __, ...rest } = passed
    expect(environment({ exclude: ["EDITOR", "PROJECT_*"] })).toEqual({ ...rest, ...tag })
  })

  test("has what is always included although a pattern excludes it", () => {
    expect(environment({ exclude: ["*"] })).toEqual({ PATH: "/usr/bin", HOME: "/home/somebody", ...tag })
  })

  test("has what the configuration includes although its name looks like a secret or a loader", () => {
    const include = ["API_TOKEN", "NODE_OPTIONS"]
    const extra = { API_TOKEN: "t0ps3cret", NODE_OPTIONS: "--require evil" }
    expect(environment({ include, exclude: ["API_*"] })).toEqual({ ...passed, ...extra, ...tag })
  })
})

describe("the three modes", () => {
  const command = { PATH: "/mine", EDITOR: null, ADDED: "1", API_TOKEN: "given" }

  test("inherit lets a command add and nothing else", () => {
    expect(environment({ command })).toEqual({ ...passed, ADDED: "1", API_TOKEN: "given", ...tag })
  })

  test("merge lets it override and take away", () => {
    expect(environment({ mode: "merge", command })).toEqual({
      PATH: "/mine",
      HOME: "/home/somebody",
      PROJECT_NAME: "acode",
      ADDED: "1",
      API_TOKEN: "given",
      ...tag,
    })
  })

  test("replace leaves of the host only what is always included or configured", () => {
    const own = { PATH: "/mine", ADDED: "1", API_TOKEN: "given" }
    expect(environment({ mode: "replace", command })).toEqual({ HOME: "/home/somebody", ...own, ...tag })
    expect(environment({ mode: "replace", command, include: ["PROJECT_NAME"] })).toMatchObject({
      PROJECT_NAME: "acode",
    })
    expect(environment({ mode: "replace", host: {}, command: {} })).toEqual(tag)
  })

  test("a variable that is taken away and is not there is no problem", () => {
    for (const mode of ["inherit", "merge", "replace"] as const)
      expect(environment({ mode, command: { NOT_THERE: null } })).not.toHaveProperty("NOT_THERE")
  })
})

test("names that mean something to JavaScript are names like any other", () => {
  const odd = { constructor: "a", toString: "b", hasOwnProperty: "c" }
  expect(environment({ host: {}, command: odd })).toEqual({ ...odd, ...tag })
  const made = childEnvironment({
    executionId: "exe_1",
    owner: "person",
    mode: "inherit",
    host: {},
    command: {},
    exclude: [],
    include: [],
    rules,
    redactText: text => text,
  })
  expect(made["constructor"]).toBeUndefined()
})

test("what it is made of is not changed", () => {
  const before = structuredClone(host)
  environment({ mode: "merge", command: { PATH: null, EDITOR: "x" } })
  expect(host).toEqual(before)
})

test("a large environment costs time in proportion to its size", () => {
  const large = (count: number) =>
    Object.fromEntries(Array.from({ length: count }, (_, index) => [`NAME_${index}`, "value"]))
  const cost = (count: number) => {
    const made = large(count)
    environment({ host: made })
    const start = performance.now()
    environment({ host: made })
    return performance.now() - start
  }
  // Quadratic growth would be a factor of 400.
  expect(cost(20_000)).toBeLessThan(Math.max(1, cost(1000)) * 200)
})

describe("what a command asked for", () => {
  const asked = { PROJECT_NAME: "other", ADDED: "1", EDITOR: null, GONE: null, HOME: host.HOME }

  test("is applied where its environment holds it, whoever it came from", () => {
    expect(appliedVariables(asked, environment({ command: asked }))).toEqual({
      ADDED: "1",
      GONE: null,
      HOME: host.HOME,
    })
    expect(appliedVariables(asked, environment({ command: asked, mode: "merge" }))).toEqual(asked)
  })

  test("is not, where acode's own value stands", () => {
    expect(appliedVariables({ ACODE_EXECUTION_ID: "mine" }, environment({ mode: "merge" }))).toEqual({})
  })
})
