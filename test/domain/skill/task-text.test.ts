import { describe, expect, test } from "bun:test"
import fc from "fast-check"
import { changedTaskText, readTask, taskText } from "../../../src/domain/skill/task-text.ts"
import { newTaskId, taskStatuses } from "../../../src/domain/task.ts"
import { exampleTask } from "./task-fixture.ts"

const problemsOf = (text: string) => {
  const reading = readTask(text)
  return "task" in reading ? [] : reading.problems.map(({ line, message }) => `${line}: ${message}`)
}

const taskOf = (text: string) => {
  const reading = readTask(text)
  if ("problems" in reading) throw new Error(JSON.stringify(reading.problems))
  return reading.task
}

describe("the text of a task", () => {
  test("is read as the task it was written from", () => {
    const task = exampleTask({
      deadline: "2026-02-01",
      goalId: "goal-1",
      pipelineId: "launch",
      revisionCount: 2,
      inputs: [
        { path: "outputs/strategy/content-strategy/x.md", description: "the strategy — approved" },
        { path: "reviews/x-1.md", description: "" },
      ],
      requirements: "Three parts:\n\n## Tone\n\ncalm: yes # really\n\n### Length\n\n200 words",
      next: { type: "agent", skill: "social-content" },
      tags: ["launch", "web"],
      metadata: { model_tier: "opus", note: "it's # not: a comment" },
    })
    expect(taskOf(taskText(task))).toEqual(task)
  })

  test("keeps every heading inside the requirements, also those with the names of its own sections", () => {
    const line = fc.constantFrom(
      ...["## Assignment", "## Context", "## Requirements", "## Output", "- `a.md` — x", "- **Goal:** other"],
      ...["---", "status: failed", "", "words", "### Output", "```"],
    )
    fc.assert(
      fc.property(fc.array(line, { maxLength: 12 }), lines => {
        const task = exampleTask({ requirements: lines.join("\n").trim() })
        expect(taskOf(taskText(task))).toEqual(task)
      }),
      { seed: 1716, numRuns: 500 },
    )
  })

  test("is read with its sections in another order, where the output comes before the requirements", () => {
    const [head = "", rest = ""] = taskText(exampleTask()).split("## Assignment")
    const body = "## Output\n\nA page.\n\n## Requirements\n\nSay it.\n"
    expect(rest).not.toBe("")
    expect(taskOf(`${head}## Context\n\n- **Goal:** g\n\n${body}`)).toMatchObject({
      goal: "g",
      requirements: "Say it.",
    })
  })

  test("is read with a byte order mark, CRLF, comments, quotes and keys nobody knows", () => {
    const text = [
      "\ufeff---",
      "# who does what",
      'id: "t-1"   # quoted',
      "status: revision",
      "priority: 'P0'",
      "owner:",
      "  - nested: yes",
      "from: the director",
      "to: copywriting",
      "created_at: 2026-01-15",
      "updated_at: 2026-01-15T10:00:00+02:00",
      "output_path: out/x.md # here",
      "tags: [a, 'b c']",
      "---",
      "## Context",
      "- **Goal:** sell",
      "- `in.md` — from before",
      "",
    ].join("\r\n")
    expect(taskOf(text)).toMatchObject({
      id: "t-1",
      status: "revision",
      priority: "P0",
      from: "the director",
      revisionCount: 0,
      output: { path: "out/x.md", format: "markdown" },
      tags: ["a", "b c"],
      goal: "sell",
      inputs: [{ path: "in.md", description: "from before" }],
      next: { type: "complete" },
    })
  })

  test("names every problem with its line", () => {
    const text = [
      ...["---", "id: ../x", "status: done", "priority: urgent", "to: a/b", "to: b", "created_at: soon"],
      ...["updated_at: 2026-01-15", "revision_count: -1", "output_path:", "next_type: later"],
      ...["metadata: [1]", "tags:", "  - nested", "free text", "---", ""],
    ].join("\n")
    expect(problemsOf(text)).toEqual([
      "6: to is given twice",
      "14: continues tags, which takes one value on one line",
      "15: is not `key: value`",
      '2: id is not an id (letters, digits, dot, dash and underscore, at most 128): "../x"',
      `3: status is "done"; it is one of ${taskStatuses.join(", ")}`,
      '4: priority is "urgent"; it is one of P0, P1, P2, P3',
      "1: from is missing",
      '5: to is not the name of a skill: "a/b"',
      '7: created_at is not a date or a time: "soon"',
      '9: revision_count is not a whole number from 0 to 999999: "-1"',
      '10: output_path is empty: ""',
      '11: next_type is "later"; it is one of agent, director_review, pipeline_continue, complete',
      "12: metadata is not a JSON object on one line",
    ])
  })

  test("without front matter is one problem", () => {
    expect(problemsOf("")).toEqual(["1: is empty; it begins with a line of three dashes (---)"])
    expect(problemsOf("# Task\n")).toEqual(["1: does not begin with a line of three dashes (---)"])
    expect(problemsOf("---\nid: x\n")).toEqual([
      "1: has no second line of three dashes (---) that ends the front matter",
    ])
    expect(problemsOf(`---\n${"a: b\n".repeat(600)}---\n`)).toEqual([
      "502: has more than 500 lines before ---",
    ])
  })

  test("changes in its own lines only, whatever stands around them", () => {
    const noise = fc.constantFrom(
      "# a comment",
      "x_key: 'odd # value'",
      "owner: {a: 1}",
      "",
      "list:\n  - one",
    )
    const body = fc.string({ unit: fc.constantFrom("a", "#", " ", "\n", "\r\n", "-", "`", "é", "---") })
    const spelled = fc.constantFrom("pending", '"pending"', "'pending'   # why", "pending \t")
    fc.assert(
      fc.property(noise, noise, body, spelled, fc.boolean(), (before, after, content, value, isCrlf) => {
        const rest = ["id: t", "priority: P1", "from: me", "to: s", "created_at: 2026-01-15"]
        const lines = (status: string, updated: string, count: string) =>
          [...["---", before, status, ...rest, after, updated, count, "output_path: o.md", "---", ""]].join(
            "\n",
          )
        const shaped = (head: string) => (isCrlf ? head.replaceAll("\n", "\r\n") : head) + content
        const text = shaped(lines(`status: ${value}`, "updated_at: 2026-01-15", "revision_count: 3"))
        const spelling = value.replace(/^(["']?)pending\1/, "in_progress")
        expect(
          changedTaskText(text, { status: "in_progress", updatedAt: "2026-02-02", revisionCount: 4 }),
        ).toBe(shaped(lines(`status: ${spelling}`, "updated_at: 2026-02-02", "revision_count: 4")))
      }),
      { seed: 1715, numRuns: 300 },
    )
  })

  test("gets a missing value and a further input at the place where it is read", () => {
    const text = taskText(exampleTask({ inputs: [{ path: "a.md", description: "first" }] }))
    const without = text.replace("revision_count: 0\n", "")
    const input = { path: "reviews/x-1.md", description: "review 1" }
    const changed = taskOf(changedTaskText(without, { revisionCount: 1, input }))
    expect(changed).toEqual(
      exampleTask({ revisionCount: 1, inputs: [{ path: "a.md", description: "first" }, input] }),
    )
    const bare = `${text.slice(0, text.indexOf("## Assignment"))}## Requirements\n\nx\n`
    expect(taskOf(changedTaskText(bare, { input })).inputs).toEqual([input])
  })
})

test("an id names skill and day", () => {
  expect(newTaskId("copywriting", "2026-01-15T23:59:59.999Z", "a1b2c3")).toBe("copywriting-20260115-a1b2c3")
})
