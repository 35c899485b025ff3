import { expect, test } from "bun:test"
import { decodeYaml } from "../../../src/app/wiring/skills.ts"
import type { Json } from "../../../src/base/canonical.ts"
import { splitFrontMatter } from "../../../src/domain/skill/front-matter.ts"
import { TaskHead } from "../../../src/domain/skill/task-head.ts"
import { readTask, taskText } from "../../../src/domain/skill/task-text.ts"
import { exampleTask } from "./task-fixture.ts"

const whole = taskText(
  exampleTask({
    deadline: "2026-02-01",
    goalId: "g",
    pipelineId: "p",
    revisionCount: 2,
    tags: ["a", "b"],
    next: { type: "agent", skill: "other" },
    metadata: { model_tier: "opus" },
  }),
)

/** Reads the front matter as a YAML reader does, and says whether the schema accepts it. */
function accepts(text: string): boolean {
  const split = splitFrontMatter(text)
  if (!("lines" in split)) return false
  const decoded = decodeYaml(split.lines.map(line => line.text).join("\n"))
  return "value" in decoded && TaskHead().safeParse(decoded.value as Json).success
}

const isTask = (text: string) => "task" in readTask(text)

test("the schema of a task accepts the front matter that is read, and names every key that is written", () => {
  expect([accepts(whole), isTask(whole)]).toEqual([true, true])
  const keys = [...(whole.split("---")[1]?.matchAll(/^(\w+):/gm) ?? [])].map(([, key]) => key)
  const known = Object.keys(TaskHead().def.shape)
  expect(keys.filter(key => !known.includes(key ?? ""))).toEqual([])
  expect(known.filter(key => !keys.includes(key))).toEqual(["next_pipeline"])
})

test("the schema of a task refuses what the reader refuses", () => {
  const lines = whole.split("\n")
  const required = ["id", "status", "priority", "from", "to", "created_at", "updated_at", "output_path"]
  const without = (key: string) => lines.filter(line => !line.startsWith(`${key}:`)).join("\n")
  const withValue = (key: string, value: string) =>
    lines.map(line => (line.startsWith(`${key}:`) ? `${key}: ${value}` : line)).join("\n")
  const refused = [
    ...required.map(without),
    ...[
      withValue("status", "soon"),
      withValue("priority", "P9"),
      withValue("to", "../x"),
      withValue("id", "a/b"),
    ],
    ...[
      withValue("revision_count", "-1"),
      withValue("revision_count", "1000000"),
      withValue("output_path", '""'),
    ],
    ...[
      withValue("next_type", "later"),
      withValue("created_at", "yesterday"),
      withValue("next_skill", "a b"),
    ],
  ]
  for (const text of refused) expect([accepts(text), isTask(text), text]).toEqual([false, false, text])
  const accepted = ["goal_id", "pipeline_id", "tags", "metadata", "deadline", "revision_count"].map(without)
  for (const text of [...accepted, withValue("tags", "[a, b]"), whole.replace("tags:", "squad: x\ntags:")])
    expect([accepts(text), isTask(text), text]).toEqual([true, true, text])
})
