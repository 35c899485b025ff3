import { afterEach, beforeEach, describe, expect, test } from "bun:test"
import { rmSync } from "node:fs"
import { join } from "node:path"
import type { Task } from "../../src/domain/task.ts"
import { contextText, type ExecutorRoom, executorRoom } from "./executor-room.ts"
import { clientKinds } from "./tested-clients.ts"

describe.each(clientKinds)("DET-07: the prompt that %s gets", kind => {
  let room: ExecutorRoom
  beforeEach(async () => {
    room = await executorRoom(kind)
  })
  afterEach(() => room[Symbol.asyncDispose]())

  const plain = { to: "plain", output: { path: "out/x.md", format: "markdown" } }

  /** Executes a task, and returns the prompt as it arrived. */
  async function arrived(changes: Partial<Task> = {}) {
    const client = room.replying("x")
    expect(await room.execute(client, room.task(changes))).toMatchObject({ status: "completed" })
    return { systemPrompt: "", userMessage: "", ...client.calls[0] }
  }

  /** The text between one heading of the template and the next one. */
  const sectionOf = (message: string, name: string) =>
    new RegExp(`^## ${name}\n([\\s\\S]*?)(?=\n\n## |(?![\\s\\S]))`, "m").exec(message)?.[1] ?? ""

  const input = (name: string) => {
    room.temp.write(`in/${name}.md`, `words of ${name}`)
    return { path: `in/${name}.md`, description: `the ${name}` }
  }

  test("with everything that there is has every section of the template in order", async () => {
    const { userMessage } = await arrived({ inputs: [input("plan")], revisionCount: 1 })
    expect([...userMessage.matchAll(/^##+ .*$/gm)].map(([heading]) => heading)).toEqual([
      ...["## Product Context", "## Task Assignment", "## Upstream Inputs", "### Input: the plan"],
      ...["## Requirements", "## Output Instructions", "## Revision Context"],
    ])
  })

  test("has the body of the skill as its system prompt", async () => {
    expect((await arrived(plain)).systemPrompt).toBe("Plainly.")
  })

  test("has each reference below a heading with its name", async () => {
    expect((await arrived()).systemPrompt).toEndWith("---\n## Reference: voice.md\nCalm.")
  })

  test("has the product context", async () => {
    expect(sectionOf((await arrived()).userMessage, "Product Context")).toContain(`\n${contextText}\n`)
  })

  test("has the goal, the requirements and the priority", async () => {
    const { userMessage } = await arrived({ goal: "Sell it", requirements: "Three posts.", priority: "P0" })
    expect(sectionOf(userMessage, "Task Assignment")).toMatch(
      /\*\*Priority:\*\* P0\n- \*\*Goal:\*\* Sell it$/,
    )
    expect(sectionOf(userMessage, "Requirements")).toContain("\nThree posts.\n")
  })

  test("has the content of an input below its description and its source", async () => {
    expect(sectionOf((await arrived({ inputs: [input("plan")] })).userMessage, "Upstream Inputs")).toMatch(
      /^### Input: the plan\nSource: in\/plan\.md\n\n<<<input [0-9a-f]{24}\nwords of plan\n[0-9a-f]{24}>>>$/,
    )
  })

  test("says that there is no product context", async () => {
    rmSync(join(room.temp.root, "context"), { recursive: true })
    expect(sectionOf((await arrived()).userMessage, "Product Context")).toBe(
      "No product marketing context available. Work with the information provided in the task.",
    )
  })

  test("says that there are no inputs", async () => {
    expect(sectionOf((await arrived()).userMessage, "Upstream Inputs")).toBe(
      "No upstream inputs for this task.",
    )
  })

  test("says which revision it is", async () => {
    expect(sectionOf((await arrived({ revisionCount: 2 })).userMessage, "Revision Context")).toBe(
      "This is revision #2. Previous output was reviewed and changes were requested.\n" +
        "See the review feedback in the upstream inputs above.",
    )
  })

  test("has an empty system prompt where the skill has no text", async () => {
    room.temp.write(".agents/skills/plain/SKILL.md", "---\nname: plain\ndescription: Plain.\n---")
    expect((await arrived(plain)).systemPrompt).toBe("")
  })

  test("has several inputs in their order", async () => {
    const { userMessage } = await arrived({ inputs: ["two", "one", "three"].map(input) })
    expect([...userMessage.matchAll(/^words of (\w+)$/gm)].map(([, name]) => name)).toEqual([
      "two",
      "one",
      "three",
    ])
  })
})
