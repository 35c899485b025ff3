import { describe, expect, test } from "bun:test"
import {
  captureModes,
  environmentModes,
  limitRanges,
  networkChoices,
  sandboxChoices,
  unlimited,
  usualNetworkChoices,
} from "../../src/domain/command.ts"
import { command } from "../../src/domain/command-validation.ts"
import { Failure } from "../../src/domain/failure.ts"

describe("the choices people type", () => {
  test("are the documented ones", () => {
    expect(environmentModes).toEqual(["inherit", "merge", "replace"])
    expect(captureModes).toEqual(["all", "stdout", "stderr", "none"])
    expect(sandboxChoices).toEqual(["auto", "native", "perl", "bwrap", "container", "reduced", "none"])
    expect(networkChoices).toEqual(["none", "host", "hosts"])
    expect(usualNetworkChoices).toEqual(["none", "host"])
  })
})

describe("limits", () => {
  test("that nobody set leave the defaults of the sandbox in force", () => {
    expect(Object.values(unlimited)).toEqual([null, null, null, null])
    expect(Object.isFrozen(unlimited)).toBe(true)
  })

  test("have a range each, of positive whole numbers", () => {
    for (const { min, max } of Object.values(limitRanges)) {
      expect(min).toBeGreaterThanOrEqual(1)
      expect(max).toBeGreaterThan(min)
      expect(Number.isSafeInteger(min) && Number.isSafeInteger(max)).toBe(true)
    }
  })

  test("of time fit a timer, which counts in 31 bits", () => {
    expect(limitRanges.timeoutMs.max).toBeLessThan(2 ** 31)
  })
})

describe("a command that is built step by step", () => {
  test("has defaults for everything but the program", () => {
    expect(command("ls").build()).toEqual({
      executable: "ls",
      arguments: [],
      workingDirectory: null,
      environment: {},
      timeoutMs: null,
      resourceLimits: unlimited,
    })
  })

  test("has everything it was given", () => {
    const built = command("npm")
      .withArguments("run", "test")
      .withArguments("--", "-t", "a b")
      .withEnvironment({ CI: "1", DEBUG: "x" })
      .withEnvironment({ DEBUG: null })
      .withTimeout(60_000)
      .withWorkingDirectory("packages/core")
      .withLimits({ memoryBytesMax: 1024 ** 3 })
      .withLimits({ processesMax: 50 })
      .build()
    expect(built).toEqual({
      executable: "npm",
      arguments: ["run", "test", "--", "-t", "a b"],
      workingDirectory: "packages/core",
      environment: { CI: "1", DEBUG: null },
      timeoutMs: 60_000,
      resourceLimits: { ...unlimited, memoryBytesMax: 1024 ** 3, processesMax: 50 },
    })
  })

  test("cannot be changed any more, not even deep inside", () => {
    const built = command("ls").withArguments("-l").withEnvironment({ A: "1" }).build()
    expect(() => Object.assign(built, { executable: "rm" })).toThrow(TypeError)
    expect(() => Object.assign(built.arguments, ["-rf"])).toThrow(TypeError)
    expect(() => Object.assign(built.environment, { A: "2" })).toThrow(TypeError)
    expect(() => Object.assign(built.resourceLimits, { processesMax: 1 })).toThrow(TypeError)
  })

  test("half built can be shared and varied without the variants seeing each other", () => {
    const base = command("git").withArguments("log")
    const short = base.withArguments("--oneline")
    const long = base.withArguments("--stat")
    expect([base, short, long].map(builder => builder.build().arguments)).toEqual([
      ["log"],
      ["log", "--oneline"],
      ["log", "--stat"],
    ])
  })

  test("does not follow later changes to what it was given", () => {
    const variables: Record<string, string> = { A: "1" }
    const built = command("env").withEnvironment(variables).build()
    variables["A"] = "2"
    expect(built.environment).toEqual({ A: "1" })
  })

  test("survives JSON unchanged", () => {
    const built = command("ls").withArguments("-l").withEnvironment({ A: null }).withTimeout(5).build()
    expect(JSON.parse(JSON.stringify(built))).toEqual(built)
  })

  test("that is wrong is refused with everything that is wrong", () => {
    const builder = command(" ").withTimeout(-1).withEnvironment({ "1A": "x" })
    try {
      builder.build()
      throw new Error("it was built")
    } catch (error) {
      if (!(error instanceof Failure)) throw error
      expect(error.report).toMatchObject({ kind: "usage", code: "ACODE-EXE-007" })
      for (const property of ["executable", "timeoutMs", "environment"])
        expect(error.report.where).toContain(property)
    }
  })
})
