import { describe, expect, test } from "bun:test"
import {
  hasOption,
  isOption,
  noOptions,
  scanArguments,
  syntaxOf,
} from "../../../src/policy/programs/options.ts"
import { marked } from "../policy-kit.ts"

const scan = (command: string, valued = "", flags = {}) => {
  const args = scanArguments(command.split(" ").map(marked), 1, syntaxOf(valued, flags))
  return {
    options: args.options.map(({ name, value }) => (value === null ? name : `${name}=${value}`)),
    operands: args.operands.map(({ word, at }) => `${word}@${at}`),
    vague: args.vague,
  }
}

describe("arguments", () => {
  test("are options and operands in any order", () => {
    expect(scan("rm a -r b --force")).toEqual({
      options: ["-r", "--force"],
      operands: ["a@1", "b@3"],
      vague: [],
    })
  })

  test("with one dash are clusters of letters", () => {
    expect(scan("rm -rf a").options).toEqual(["-r", "-f"])
  })

  test("take values that are attached or follow", () => {
    expect(scan("head -n5 -c 3 x", "-n -c")).toEqual({
      options: ["-n=5", "-c=3"],
      operands: ["x@4"],
      vague: [],
    })
    expect(scan("x -abvalue y", "-b").options).toEqual(["-a", "-b=value"])
    expect(scan("x --name value --other=v y", "--name").options).toEqual(["--name=value", "--other=v"])
    expect(scan("x --name=value y", "--name")).toMatchObject({ options: ["--name=value"], operands: ["y@2"] })
  })

  test("without the value they need are still options", () => {
    expect(scan("x -n", "-n").options).toEqual(["-n"])
  })

  test("after two dashes are operands", () => {
    expect(scan("rm -- -rf {?}")).toEqual({
      options: [],
      operands: ["-rf@2", `${marked("{?}")}@3`],
      vague: [],
    })
  })

  test("count a single dash as an operand", () => {
    expect(scan("cat -")).toMatchObject({ options: [], operands: ["-@1"] })
  })

  test("may be one long option with one dash", () => {
    expect(scan("find -name x -exec=y", "-name", { longDash: true }).options).toEqual(["-name=x", "-exec=y"])
    expect(scan("dotnet /p:X=y /a", "", { longDash: true })).toMatchObject({
      options: ["/p:X=y"],
      operands: ["/a@2"],
    })
  })

  test("belong to another program after the first operand", () => {
    expect(scan("nice -n 5 rm -rf /", "-n", { stops: true })).toEqual({
      options: ["-n=5"],
      operands: ["rm@3", "-rf@4", "/@5"],
      vague: [],
    })
  })

  test("that may become options are told apart", () => {
    expect(scan("rm {??} a{?} {?} {*} ./{*}").vague).toEqual([1, 3, 4])
  })
})

describe("an option", () => {
  test("may be shortened when it is long", () => {
    expect(isOption("--checkpoint-act", "--checkpoint-action", noOptions)).toBe(true)
    expect(isOption("--f", "--force", noOptions)).toBe(true)
    expect(isOption("--", "--force", noOptions)).toBe(false)
    expect(isOption("--forced", "--force", noOptions)).toBe(false)
    expect(isOption("-f", "--force", noOptions)).toBe(false)
  })

  test("that is a real one is not taken for a shortened one", () => {
    expect(isOption("--text", "--textconv", new Set(["--text"]))).toBe(false)
    expect(isOption("--text", "--text", new Set(["--text"]))).toBe(true)
  })

  test("is found among the arguments", () => {
    const args = scanArguments(["rm", "a", "-fr"], 1, syntaxOf(""))
    expect(hasOption(args, ["-r", "--recursive"])).toBe(true)
    expect(hasOption(args, ["-x"])).toBe(false)
  })
})
