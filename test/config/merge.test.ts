import { describe, expect, test } from "bun:test"
import type { Json } from "../../src/base/canonical.ts"
import { defaultConfig } from "../../src/config/defaults.ts"
import {
  defaultLeaves,
  documentOf,
  type Leaves,
  leavesOf,
  sectionKeys,
  withoutEmptySections,
} from "../../src/config/keys.ts"
import { type ConfigLayer, looseningKeys, mergeLayers, overridden, stricter } from "../../src/config/merge.ts"

function layer(origin: ConfigLayer["origin"], values: Record<string, Json>, isTrusted = true): ConfigLayer {
  return { origin, leaves: new Map(Object.entries(values)), isTrusted }
}

describe("dotted keys", () => {
  test("and nested documents are two forms of one thing", () => {
    expect(documentOf(defaultLeaves)).toEqual(defaultConfig)
    expect(leavesOf(defaultConfig)).toEqual(defaultLeaves)
  })

  test("of sections are known, so that they are not taken for values", () => {
    expect(sectionKeys).toEqual([
      "execution",
      "execution.environment",
      "execution.audit",
      "execution.redaction",
      "execution.limits",
      "approvals",
      "executor",
      "orchestration",
      "planner",
      "commands",
      "mode",
      "model",
      "model.parameters",
      "model.prices",
      "models",
      "models.tiers",
      "checkpoints",
      "storage",
      "code",
      "skills",
    ])
    for (const section of sectionKeys) expect(defaultLeaves.has(section)).toBe(false)
  })

  test("that a document leaves out are left out, null values are not", () => {
    expect(leavesOf({ execution: { limits: { memory_mb: null } } })).toEqual(
      new Map([["execution.limits.memory_mb", null]]),
    )
    expect(leavesOf(null)).toEqual(new Map())
    expect(leavesOf({ execution: "text" })).toEqual(new Map())
  })

  test("of sections without content vanish, and nothing else does", () => {
    const document = {
      schema_version: null,
      execution: { audit: null, sandbox: null, other: { audit: null } },
    }
    expect(JSON.stringify(withoutEmptySections(document))).toBe(
      '{"schema_version":null,"execution":{"sandbox":null,"other":{"audit":null}}}',
    )
    expect(JSON.stringify(withoutEmptySections({ execution: null }))).toBe("{}")
    expect(withoutEmptySections([null])).toEqual([null])
  })
})

describe("layers", () => {
  test("are laid over the defaults in their order", () => {
    const { leaves, origins } = mergeLayers([
      layer("user", { "execution.max_queued": 1, "execution.max_concurrent": 1 }),
      layer("project", { "execution.max_queued": 2 }),
      layer("flag", { "execution.max_output_kb": 3 }),
    ])
    const changed = [...leaves].filter(([key]) => origins.get(key) !== "default")
    expect(changed).toEqual([
      ["execution.max_output_kb", 3],
      ["execution.max_concurrent", 1],
      ["execution.max_queued", 2],
    ])
    expect(origins.get("execution.max_concurrent")).toBe("user")
  })

  test("do not change the defaults or each other", () => {
    const before = JSON.stringify([...defaultLeaves])
    const user = layer("user", { "execution.environment.exclude_patterns": ["A"] })
    mergeLayers([user, layer("project", { "execution.environment.exclude_patterns": ["B"] }, false)])
    expect(JSON.stringify([...defaultLeaves])).toBe(before)
    expect([...user.leaves.values()]).toEqual([["A"]])
  })

  test("that repeat what holds are named as its origin", () => {
    const { origins } = mergeLayers([
      layer("user", { "execution.sandbox": "auto" }),
      layer("project", { "execution.sandbox": "auto" }, false),
    ])
    expect(origins.get("execution.sandbox")).toBe("project")
  })

  test("that are not trusted are no origin of what they could not change", () => {
    const { leaves, origins } = mergeLayers([
      layer("user", { "execution.sandbox": "bwrap" }),
      layer("project", { "execution.sandbox": "none" }, false),
    ])
    expect([leaves.get("execution.sandbox"), origins.get("execution.sandbox")]).toEqual(["bwrap", "user"])
  })
})

function named(name: string, policy: string): Json {
  return { name, operation: "file_write", pattern: "a", policy }
}

describe("rules of two sources that may say anything", () => {
  const [a, b, c] = [named("a", "auto"), named("b", "deny"), named("c", "prompt")]

  test("all hold, those of the stronger source first", () => {
    const { leaves } = mergeLayers([layer("user", { rules: [a, b] }), layer("project", { rules: [c] })])
    expect(leaves.get("rules")).toEqual([c, a, b])
  })

  test("that are the same hold once", () => {
    expect(overridden("rules", [a, b], [b, a])).toEqual([b, a])
  })

  test("need trust where they let something through that does not hold already", () => {
    const needs = (held: Json, said: Json) =>
      looseningKeys(new Map([["rules", held]]), new Map([["rules", said]])).length > 0
    expect([needs([], [a]), needs([], [c]), needs([a], [b, a]), needs([a], [b]), needs([], [])]).toEqual([
      true,
      true,
      false,
      false,
      false,
    ])
  })
})

describe("the stricter of two values", () => {
  const table: readonly (readonly [string, Json, Json, Json])[] = [
    ["execution.sandbox", "auto", "none", "auto"],
    ["execution.sandbox", "none", "auto", "auto"],
    ["execution.sandbox", "auto", "container", "container"],
    ["execution.sandbox", "container", "bwrap", "container"],
    ["execution.network", "none", "host", "none"],
    ["execution.network", "host", "none", "none"],
    ["execution.use_shell", true, false, false],
    ["execution.use_shell", false, true, false],
    ["execution.unix_sockets", "deny", "allow", "deny"],
    ["execution.unix_sockets", "allow", "deny", "deny"],
    ["execution.environment.mode", "inherit", "merge", "inherit"],
    ["execution.environment.mode", "inherit", "replace", "replace"],
    ["execution.environment.include", ["PATH", "HOME"], ["HOME", "X"], ["HOME"]],
    ["execution.environment.include", ["PATH"], [], []],
    ["execution.readable_paths", [], ["/opt"], []],
    ["execution.readable_paths", ["/opt", "/srv"], ["/srv"], ["/srv"]],
    ["execution.redaction.patterns", ["a"], ["b"], ["a"]],
    ["execution.environment.exclude_patterns", ["A"], [], ["A"]],
    ["approvals.file_write", "prompt", "auto", "prompt"],
    ["approvals.file_write", "auto", "prompt", "prompt"],
    ["approvals.file_delete", "prompt", "skip", "skip"],
    ["approvals.file_delete", "deny", "skip", "deny"],
    ["approvals.terminal_commands", "skip", "deny", "deny"],
    ["approvals.external_requests", "prompt", "prompt", "prompt"],
    ["approvals.non_interactive", "deny", "rest", "deny"],
    ["approvals.non_interactive", "rest", "deny", "deny"],
    ["approvals.timeout_seconds", 300, 0, 300],
    ["approvals.timeout_seconds", 0, 300, 300],
    ["approvals.timeout_seconds", 300, 301, 300],
    ["approvals.timeout_seconds", 300, 299, 299],
    ["executor.allowed_commands", ["make", ["go", "vet"]], [["go", "vet"], "rm"], [["go", "vet"]]],
    ["rules", [named("a", "auto")], [named("b", "deny")], [named("a", "auto"), named("b", "deny")]],
    ["rules", [named("a", "deny")], [], [named("a", "deny")]],
    ["rules", [], [named("a", "auto"), named("b", "prompt"), named("c", "skip")], [named("c", "skip")]],
    ["rules", [named("a", "auto")], [named("a", "auto")], [named("a", "auto")]],
    ["checkpoints.undo_days", 7, 1, 7],
    ["checkpoints.undo_days", 7, 8, 7],
    ["execution.audit.retention_days", 90, 1, 90],
    ["execution.audit.include_output", true, false, true],
    ["execution.limits.memory_mb", null, 512, 512],
    ["execution.limits.memory_mb", 512, null, 512],
    ["orchestration.cycle_limit", 3, 0, 0],
    ["orchestration.cycle_limit", 3, 4, 3],
    ["storage.max_total_mb", 4096, 1, 4096],
    ["code.enabled", true, false, false],
    ["code.enabled", false, true, false],
    ["code.max_file_kb", 2048, 65536, 2048],
    ["storage.max_total_mb", 4096, 9000, 4096],
    ["execution.max_concurrent", 4, 16, 16],
    ["execution.default_timeout_seconds", 300, 3600, 3600],
    ["execution.max_output_kb", 1024, 4096, 1024],
    ["execution.max_output_kb", 1024, 64, 64],
  ]

  const accumulating = ["rules", "execution.environment.exclude_patterns", "execution.redaction.patterns"]

  test.each(table)("of %s: %j and %j is %j", (key, held, said, expected) => {
    expect(stricter(key, held, said)).toEqual(expected)
  })

  test("does not matter to a source that is trusted", () => {
    for (const [key, held, said] of table)
      if (!accumulating.includes(key)) expect(overridden(key, held, said)).toEqual(said)
  })

  test("never raises a limit, and leaves alone what is kept of the past", () => {
    const numbers = [...defaultLeaves].filter(([, value]) => typeof value === "number" || value === null)
    const raised = numbers.filter(([key, held]) => stricter(key, held, 1e9) === 1e9 && held !== null)
    expect(raised.map(([key]) => key)).toEqual([
      "execution.default_timeout_seconds",
      "execution.max_concurrent",
      "execution.max_queued",
      "execution.kill_grace_seconds",
      "model.parameters.max_tokens",
    ])
    const kept = numbers.filter(([key]) => /^(checkpoints|storage|execution\.audit)\./.test(key))
    expect(kept.filter(([key, held]) => stricter(key, held, 1) !== held)).toEqual([])
    expect([numbers.length > 30, kept.length]).toEqual([true, 8])
  })

  test("tells which keys a file needs to be trusted for", () => {
    const said: Leaves = new Map<string, Json>([
      ["execution.sandbox", "none"],
      ["execution.network", "none"],
      ["execution.max_concurrent", 16],
      ["execution.output_ceiling_mb", 20_000],
      ["execution.environment.include", ["PATH", "SECRET"]],
    ])
    expect(looseningKeys(defaultLeaves, said)).toEqual([
      "execution.sandbox",
      "execution.output_ceiling_mb",
      "execution.environment.include",
    ])
    expect(looseningKeys(new Map([...defaultLeaves, ["execution.sandbox", "none"]]), said)).toEqual([
      "execution.output_ceiling_mb",
      "execution.environment.include",
    ])
    expect(looseningKeys(defaultLeaves, new Map())).toEqual([])
  })
})
