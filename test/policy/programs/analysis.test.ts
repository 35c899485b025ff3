import { describe, expect, test } from "bun:test"
import { isKnownName } from "../../../src/policy/programs/analysis.ts"
import { ask, askNetwork, never, newLayer, touch, touchOutput } from "../../../src/policy/programs/layer.ts"
import { findingsOf, layersOf, unmarked } from "../policy-kit.ts"

const programs = (argv: readonly string[]) => layersOf(argv).map(layer => layer.argv.map(unmarked).join(" "))
const findings = (argv: readonly string[]) => findingsOf(layersOf(argv))

describe("a program", () => {
  test("is followed through all that starts another", () => {
    expect(programs(["env", "A=1", "nice", "timeout", "5", "sh", "-c", "ls | xargs wc"])).toEqual([
      "env A=1 nice timeout 5 sh -c ls | xargs wc",
      "nice timeout 5 sh -c ls | xargs wc",
      "timeout 5 sh -c ls | xargs wc",
      "sh -c ls | xargs wc",
      "ls",
      "xargs wc",
      "wc {??}",
    ])
  })

  test("knows what started it, and where in its arguments", () => {
    const [outer, inner] = layersOf(["timeout", "5", "npm", "test"])
    expect(inner?.outer).toMatchObject({ offset: 2, by: "argv" })
    expect(inner?.outer?.layer.argv).toEqual(outer?.argv ?? [])
    const [, script] = layersOf(["sh", "-c", "ls"])
    expect(script?.outer).toMatchObject({ offset: 2, by: "script" })
  })

  test("is not followed for ever", () => {
    expect(findings(Array.from({ length: 20 }, () => "nohup"))).toContain("never never.malformed@0")
    expect(findings(["echo", ...Array.from({ length: 5000 }, () => "a")])).toContain(
      "never never.malformed@0",
    )
  })

  test.each([[""], [], ["a b"], ["рm"], ["$x"], ["a;b"]].map(argv => [JSON.stringify(argv), argv] as const))(
    "%s has no name",
    (_, argv) => {
      expect(findings(argv)).toContain("never never.malformed@0")
    },
  )

  test("is named by the rule that knows it", () => {
    const rule = (...argv: string[]) => layersOf(argv)[0]?.rule
    expect(rule("ls")).toBe("commands.read")
    expect(rule("rg", "x")).toBe("commands.search")
    expect(rule("make")).toBe("commands.build")
    expect(rule("pytest")).toBe("commands.test")
    expect(rule("git", "status")).toBe("commands.git")
    expect(rule("node", "--version")).toBe("commands.version")
    expect(rule("foo")).toBe("commands.unknown-program")
    expect(rule("./foo")).toBe("commands.run-file")
  })
})

describe("a program nobody knows", () => {
  test("is asked", () => {
    expect(findings(["foo", "x"])).toEqual(["ask commands.unknown-program@0"])
    expect(findings(["./foo"])).toEqual(["ask commands.run-file@0"])
    expect(findings(["/tmp/ls"])).toEqual(["ask commands.run-file@0"])
  })

  test("does not hide what is never allowed", () => {
    expect(findings(["foo", "--", "rm", "-rf", "/"])).toContain("never never.recursive-delete@4")
    expect(findings(["./foo", "git", "push", "-f"])).toContain("never never.git-history@2")
    expect(findings(["nice", "--odd", "rm", "-rf", "/"])).toContain("never never.recursive-delete@4")
  })

  test("does not make harmless words dangerous", () => {
    expect(findings(["echo", "rm", "-rf", "/"])).toEqual([])
    expect(findings(["foo", "rm", "x"])).toEqual(["ask commands.unknown-program@0"])
  })
})

describe("a question for the version", () => {
  test("is answered by every known program", () => {
    for (const argv of [
      ["curl", "--version"],
      ["docker", "--version"],
      ["python3", "-V"],
      ["npm", "-v"],
      ["go", "version"],
      ["ssh", "-V"],
    ])
      expect(findings(argv)).toEqual([])
  })

  test("is one only alone, and of known programs", () => {
    expect(findings(["curl", "--version", "x"])).not.toEqual([])
    expect(findings(["foo", "--version"])).not.toEqual([])
    expect(findings(["curl", "-v"])).not.toEqual([])
  })
})

describe("npx", () => {
  test("runs known tools of the workspace", () => {
    for (const argv of [
      ["npx", "tsc"],
      ["npx", "--no-install", "jest", "a"],
      ["npx", "eslint", "."],
    ])
      expect(findings(argv)).toEqual([])
  })

  test("is asked for what it may fetch", () => {
    for (const argv of [
      ["npx", "cowsay"],
      ["npx", "-y", "tsc"],
      ["npx", "-p", "x", "tsc"],
      ["npx"],
      ["npx", "ls"],
    ])
      expect(layersOf(argv)[0]?.findings).toMatchObject([{ severity: "ask", network: true }])
  })
})

test("a name that means something is known", () => {
  for (const name of ["ls", "git", "sh", "env", "find", "npx", "rm", "sed", "python"])
    expect(isKnownName(name)).toBe(true)
  for (const name of ["foo", "count", ""]) expect(isKnownName(name)).toBe(false)
})

test("a layer collects objections and touched paths", () => {
  const layer = newLayer(["a", "b"], null)
  ask(layer, 1, "option", "r1")
  askNetwork(layer, 0, "r2")
  never(layer, "fork-bomb", "r3")
  touch(layer, "read", "x", 1)
  touchOutput(layer, "y", 2)
  expect(layer).toEqual({
    argv: ["a", "b"],
    outer: null,
    rule: "commands.unknown-program",
    findings: [
      { severity: "ask", rule: "commands.option", reason: "r1", at: 1, network: false },
      { severity: "ask", rule: "commands.network", reason: "r2", at: 0, network: true },
      { severity: "never", rule: "never.fork-bomb", reason: "r3", at: 0, network: false },
    ],
    touches: [
      { operation: "read", path: "x", at: 1, isOutput: false },
      { operation: "write", path: "y", at: 2, isOutput: true },
    ],
  })
})
