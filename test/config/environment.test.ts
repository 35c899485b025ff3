import { describe, expect, test } from "bun:test"
import { homedir } from "node:os"
import { readEnvironment } from "../../src/config/environment.ts"
import { failureOf } from "./config-fixture.ts"

const hash = `sha256:${"0a".repeat(32)}`

describe("the environment", () => {
  test("without any variable everything has a sensible value", () => {
    expect(readEnvironment({})).toEqual({
      host: {},
      home: homedir(),
      xdgConfigHome: `${homedir()}/.config`,
      xdgDataHome: `${homedir()}/.local/share`,
      xdgCacheHome: `${homedir()}/.cache`,
      xdgStateHome: `${homedir()}/.local/state`,
      stateDirectory: null,
      noColor: false,
      ci: false,
      nonInteractive: false,
      json: false,
      failpoint: null,
      trustProject: null,
      configFile: null,
      editor: null,
      modelVariables: {},
    })
  })

  test("every variable acode knows arrives with its type", () => {
    const variables = {
      HOME: "/home/somebody",
      XDG_CONFIG_HOME: "/cfg",
      XDG_DATA_HOME: "/data",
      XDG_CACHE_HOME: "/cache",
      XDG_STATE_HOME: "/state",
      ACODE_STATE_DIR: "/elsewhere",
      NO_COLOR: "1",
      CI: "true",
      ACODE_NON_INTERACTIVE: "1",
      ACODE_JSON: "true",
      ACODE_FAILPOINT: "7",
      ACODE_TRUST_PROJECT: hash,
      ACODE_CONFIG_FILE: "ci.yml",
      EDITOR: "vi",
      ANTHROPIC_API_KEY: " sk-ant-1\n",
      OPENAI_API_KEY: "sk-2",
      OLLAMA_HOST: "0.0.0.0",
    }
    expect(readEnvironment(variables)).toEqual({
      host: variables,
      home: "/home/somebody",
      xdgConfigHome: "/cfg",
      xdgDataHome: "/data",
      xdgCacheHome: "/cache",
      xdgStateHome: "/state",
      stateDirectory: "/elsewhere",
      noColor: true,
      ci: true,
      nonInteractive: true,
      json: true,
      failpoint: 7,
      trustProject: hash,
      configFile: "ci.yml",
      editor: "vi",
      modelVariables: { ANTHROPIC_API_KEY: "sk-ant-1", OPENAI_API_KEY: "sk-2", OLLAMA_HOST: "0.0.0.0" },
    })
  })

  test("the variables of this process are read when none are given", () => {
    expect(readEnvironment().host["PATH"]).toBe(process.env["PATH"] ?? "")
  })

  test("variables without a value are not passed on to children", () => {
    expect(readEnvironment({ A: undefined, B: "" }).host).toEqual({ B: "" })
  })

  test("relative and empty XDG directories and homes are ignored", () => {
    const environment = readEnvironment({ HOME: "/h", XDG_CONFIG_HOME: "cfg", XDG_DATA_HOME: "" })
    expect([environment.xdgConfigHome, environment.xdgDataHome]).toEqual(["/h/.config", "/h/.local/share"])
    expect(readEnvironment({ HOME: "relative" }).home).toBe(homedir())
  })

  test.each([
    ["", false],
    ["0", false],
    ["false", false],
    ["FALSE", false],
    ["1", true],
    ["true", true],
    ["woodpecker", true],
  ])("CI=%p means %p", (value, expected) => {
    expect(readEnvironment({ CI: value }).ci).toBe(expected)
  })

  test("an empty NO_COLOR does not turn colour off", () => {
    expect(readEnvironment({ NO_COLOR: "" }).noColor).toBe(false)
  })

  test.each([
    ["0", false],
    ["no", false],
    ["", false],
    ["yes", true],
    ["TRUE", true],
  ])("a switch set to %p means %p", (value, expected) => {
    const { nonInteractive, json } = readEnvironment({ ACODE_NON_INTERACTIVE: value, ACODE_JSON: value })
    expect([nonInteractive, json]).toEqual([expected, expected])
  })

  test.each([
    ["ACODE_NON_INTERACTIVE", "maybe"],
    ["ACODE_JSON", "2"],
    ["ACODE_FAILPOINT", "0"],
    ["ACODE_FAILPOINT", "-1"],
    ["ACODE_FAILPOINT", "1.5"],
    ["ACODE_FAILPOINT", "1e3"],
    ["ACODE_FAILPOINT", "99999999999"],
    ["ACODE_TRUST_PROJECT", "yes"],
    ["ACODE_TRUST_PROJECT", "0a".repeat(32)],
    ["ACODE_TRUST_PROJECT", hash.toUpperCase()],
  ])("%s=%p is refused by name", async (name, value) => {
    const report = await failureOf(() => readEnvironment({ [name]: value }))
    expect(report).toMatchObject({ kind: "config", code: "ACODE-CFG-003", where: "environment" })
    expect(report.message).toContain(name)
    expect(report.message).toContain("allowed:")
  })

  test("all malformed variables are told at once, and cannot act on a terminal", async () => {
    const report = await failureOf(() => readEnvironment({ ACODE_JSON: "\u001b[31m", ACODE_FAILPOINT: "x" }))
    expect(report.message).toContain("ACODE_JSON")
    expect(report.message).toContain("ACODE_FAILPOINT")
    expect(report.message).not.toContain("\u001b")
  })
})
