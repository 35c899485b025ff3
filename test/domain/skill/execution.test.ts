import { describe, expect, test } from "bun:test"
import {
  defaultRetryableErrors,
  ExecutionError,
  executionAdvice,
  executionErrorOf,
  executionErrors,
  isExecutionErrorCode,
  retryDelayMs,
} from "../../../src/domain/skill/execution-error.ts"
import { outputPathOf, pathProblem } from "../../../src/domain/skill/output-path.ts"
import { readSkillMeta } from "../../../src/domain/skill/skill-text.ts"
import { exampleTask } from "./task-fixture.ts"

describe("DET-08: what follows from an error", () => {
  test("only what may be gone by itself is asked again", () => {
    const retryable = Object.entries(executionErrors).filter(([, { isRetryable }]) => isRetryable)
    expect(retryable.map(([code]) => code).sort()).toEqual([...defaultRetryableErrors].sort())
  })

  test("each says what to do, for the task that it is about", () => {
    for (const code of Object.keys(executionErrors).filter(isExecutionErrorCode)) {
      const { status } = executionErrors[code]
      const advice = executionAdvice(code, "copy-1")
      expect(advice).not.toMatch(/\bID\b/)
      // Only a person sets a task back that has failed.
      const isOver = status === "failed" || status === "cancelled"
      if (isOver) expect(advice).toContain("`acode agent reset copy-1 --reason WHY`")
      expect([code, advice.length > 20]).toEqual([code, true])
    }
  })

  test("delays double, and a server that asks for more time gets it", () => {
    expect([1, 2, 3].map(attempts => retryDelayMs(1000, attempts, null))).toEqual([1000, 2000, 4000])
    expect(retryDelayMs(1000, 1, 7000)).toBe(7000)
    expect(retryDelayMs(1000, 4, 7000)).toBe(8000)
  })

  test("whatever is thrown becomes an error of the task", () => {
    const bug = new TypeError("x is undefined")
    expect(executionErrorOf(bug, "t")).toMatchObject({ code: "UNKNOWN", taskId: "t", cause: bug })
    expect(executionErrorOf("odd", "t")).toMatchObject({ code: "UNKNOWN", message: "odd" })
    const limited = new ExecutionError("slow down", "API_RATE_LIMITED", "", bug, {
      retryAfterMs: 5,
      inputTokens: 1,
      outputTokens: 0,
    })
    expect(executionErrorOf(limited, "t")).toMatchObject({
      code: "API_RATE_LIMITED",
      taskId: "t",
      cause: bug,
      request: { retryAfterMs: 5 },
    })
    expect(isExecutionErrorCode("toString")).toBe(false)
  })
})

describe("DET-08: where an output goes", () => {
  const plan = { squad: "creative", foundation: "product-marketing-context", context: "context/p.md" }
  const pathOf = (
    path: string,
    changes: Parameters<typeof exampleTask>[0] = {},
    squad: string | null = "creative",
  ) => outputPathOf(exampleTask({ ...changes, output: { path, format: "markdown" } }), { ...plan, squad })

  test("a skill of a squad writes to the path that follows from it, and to no other", () => {
    const { output } = exampleTask()
    expect(pathOf(output.path)).toEqual({ path: output.path })
    expect(pathOf("outputs/creative/copywriting/other.md")).toMatchObject({ isRefused: false })
  })

  test("the foundation skill writes the context", () => {
    expect(pathOf("context/p.md", { to: plan.foundation })).toEqual({ path: "context/p.md" })
    expect(pathOf("context/q.md", { to: plan.foundation })).toMatchObject({ isRefused: false })
  })

  test("a skill of no squad writes where the task says", () => {
    expect(pathOf("docs/out.md", {}, null)).toEqual({ path: "docs/out.md" })
    expect(pathOf("tasks/other.md", {}, null)).toMatchObject({ isRefused: true })
    expect(pathOf(plan.context, {}, null)).toMatchObject({ isRefused: true })
  })

  test("a path that could lead elsewhere is refused", () => {
    const plain = [
      "a`b.md",
      "",
      "/etc/x",
      "~/x",
      "C:/x",
      "a/../../x",
      "..",
      "a\\b",
      "a\0b",
      "a//b",
      "./a",
      "a/",
    ]
    for (const path of [...plain, "x".repeat(2000)]) {
      expect(pathProblem(path)).not.toBeNull()
      expect(pathOf(path, {}, null)).toMatchObject({ isRefused: true })
    }
  })

  test("two dots within a name are only a name", () => {
    expect(pathProblem("a/..foo/b..c.md")).toBeNull()
  })
})

describe("DET-06: the front matter of a skill", () => {
  test("keeps what the convention names, and the rest out", () => {
    const fields = {
      name: "copywriting",
      description: " Writes copy. ",
      license: "MIT",
      hidden: "x",
      metadata: { version: 1.2, squad: "creative", nested: { no: true } },
      "allowed-tools": ["Read", "Write"],
    }
    expect(readSkillMeta(fields, "copywriting")).toEqual({
      meta: {
        name: "copywriting",
        description: "Writes copy.",
        license: "MIT",
        compatibility: null,
        metadata: { version: "1.2", squad: "creative" },
        allowedTools: "Read Write",
      },
      problems: [],
      warnings: [],
    })
  })

  test("says what is wrong and what is only odd", () => {
    expect(readSkillMeta(["list"], "x").problems).toEqual(["name is missing", "description is missing"])
    const odd = readSkillMeta({ name: "Other Name", description: "d".repeat(1025) }, "folder")
    expect(odd.problems).toEqual([])
    expect(odd.warnings).toHaveLength(3)
    const squad = readSkillMeta({ name: "x", description: "d", metadata: { squad: "../up" } }, "x")
    expect(squad.warnings).toEqual(["metadata.squad is not a name that can be a folder, and is ignored"])
  })
})
