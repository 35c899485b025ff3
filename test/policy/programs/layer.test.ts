import { expect, test } from "bun:test"
import { ask, askNetwork, never, newLayer, touch, touchOutput } from "../../../src/policy/programs/layer.ts"

test("a layer collects what speaks against it and what it touches", () => {
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
