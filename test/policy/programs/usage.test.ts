import { describe, expect, test } from "bun:test"
import { applyUsage, type Usage } from "../../../src/policy/programs/usage.ts"
import { findingsOf, layer, touchesOf } from "../policy-kit.ts"

const judged = (command: string, usage: Usage) => {
  const found = layer(command)
  applyUsage(found, usage, 1)
  return { findings: findingsOf(found), touches: touchesOf(found) }
}

describe("a usage", () => {
  test("that says nothing lets everything pass", () => {
    expect(judged("x -a --b c {??}", {})).toEqual({ findings: [], touches: [] })
  })

  test("asks for the options it lists, however they are spelled", () => {
    const usage: Usage = { asked: "-x --execute" }
    for (const command of ["p -x", "p -ax", "p --execute", "p --exec=y", "p a -x"])
      expect(judged(command, usage).findings).toEqual([expect.stringContaining("ask commands.option@")])
    for (const command of ["p -a", "p --executes", "p -- -x"])
      expect(judged(command, usage).findings).toEqual([])
  })

  test("does not take a real option for a shortened one", () => {
    expect(judged("p --text", { asked: "--textconv", plain: "--text" }).findings).toEqual([])
  })

  test("asks for every option but the ones it knows", () => {
    expect(judged("p -a -b", { only: "-a" }).findings).toEqual(["ask commands.option@2"])
  })

  test("asks for words that may become options, where options matter", () => {
    expect(judged("p {??}", { asked: "-x" }).findings).toEqual(["ask commands.dynamic-option@1"])
    expect(judged("p a{?}", { asked: "-x" }).findings).toEqual([])
    expect(judged("p {?}", { only: "-a" }).findings).toEqual(["ask commands.dynamic-option@1"])
  })

  test("does not take the value of an option for an operand", () => {
    expect(judged("p -n 5 a", { operands: "read", valued: "-n" }).touches).toEqual(["read a@3"])
  })

  test("with one-dash options matches them by how they begin", () => {
    expect(judged("gcc -Bdir", { longDash: true, asked: "-B" }).findings).toEqual(["ask commands.option@1"])
  })

  test("may always ask, or ask for the network", () => {
    expect(judged("p", { ask: "why" }).findings).toEqual(["ask commands.asked-program@0"])
    expect(judged("p", { network: true }).findings).toEqual(["ask commands.network@0"])
  })
})

describe("operands", () => {
  const rows: readonly (readonly [Usage["operands"], string[]])[] = [
    ["free", []],
    ["read", ["read a@1", "read b@2"]],
    ["list", ["list a@1", "list b@2"]],
    ["write", ["write a@1", "write b@2"]],
    ["delete", ["delete a@1", "delete b@2"]],
    ["createDirectory", ["createDirectory a@1", "createDirectory b@2"]],
    ["patternThenRead", ["read b@2"]],
    ["sourcesThenTarget", ["read a@1", "write b@2"]],
    ["readThenWrite", ["read a@1", "write b@2"]],
  ]
  test.each(rows)("that are %s", (operands, expected) => {
    expect(judged("p a b", operands === undefined ? {} : { operands }).touches).toEqual(expected)
  })

  test("that are not foreseen are asked", () => {
    expect(judged("p a", { operands: "none" }).findings).toEqual(["ask commands.argument@1"])
    expect(judged("p", { operands: "none" }).findings).toEqual([])
  })

  test("called - are no file", () => {
    expect(judged("cat - a", { operands: "read" }).touches).toEqual(["read a@2"])
  })

  test("of options are files that are written, or what a build makes", () => {
    expect(judged("sort -o a", { writes: "-o" }).touches).toEqual(["write a@1"])
    const made = layer("cc -o a")
    applyUsage(made, { outputs: "-o" }, 1)
    expect(made.touches).toEqual([{ operation: "write", path: "a", at: 1, isOutput: true }])
  })
})

describe("sub-commands", () => {
  const usage: Usage = {
    valued: "-C",
    only: "-C -q",
    commands: { log: { asked: "--exec" }, install: { network: true }, sub: { commands: { list: {} } } },
  }

  test("that are known are judged by their own usage", () => {
    expect(judged("p log --exec", usage).findings).toEqual(["ask commands.option@2"])
    expect(judged("p log -z", usage).findings).toEqual([])
    expect(judged("p install", usage).findings).toEqual(["ask commands.network@1"])
  })

  test("are found behind global options", () => {
    expect(judged("p -C dir -q log", usage).findings).toEqual([])
    expect(judged("p -z log", usage).findings).toEqual(["ask commands.option@1"])
  })

  test("that are not known are asked", () => {
    expect(judged("p other", usage).findings).toEqual(["ask commands.sub-command@1"])
    expect(judged("p {?}", usage).findings).toContain("ask commands.sub-command@1")
    expect(judged("p toString", usage).findings).toEqual(["ask commands.sub-command@1"])
    expect(judged("p constructor", usage).findings).toEqual(["ask commands.sub-command@1"])
  })

  test("may have sub-commands", () => {
    expect(judged("p sub list", usage).findings).toEqual([])
    expect(judged("p sub add", usage).findings).toEqual(["ask commands.sub-command@2"])
  })

  test("may be missing where that means something", () => {
    expect(judged("p", usage).findings).toEqual(["ask commands.sub-command@1"])
    expect(judged("p", { ...usage, bare: {} }).findings).toEqual([])
  })
})
