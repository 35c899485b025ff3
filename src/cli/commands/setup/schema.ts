import type { ZodMiniType } from "zod/mini"
import { nearest, printable } from "../../../base/text.ts"
import { Failure } from "../../../domain/failure.ts"
import { defineCommand } from "../../definition.ts"

/** Loads each schema on use: they are the largest modules of the program. */
const schemas: Readonly<Record<string, () => Promise<unknown>>> = {
  config: async () => (await import("../../../config/json-schema.ts")).configJsonSchema(),
  "command-result": async () =>
    jsonSchema((await import("../../../domain/command-result.ts")).ExecutionRecord()),
  plan: async () => {
    const { PlanFile } = await import("../../../domain/plan/schema.ts")
    return { ...(await jsonSchema(PlanFile(), "input")), title: "acode plan" }
  },
  task: async () => {
    const { TaskHead } = await import("../../../domain/skill/task-head.ts")
    return { ...(await jsonSchema(TaskHead(), "input")), title: "acode task, its front matter" }
  },
  pipeline: async () => {
    const { PipelineFile } = await import("../../../domain/skill/pipeline-file.ts")
    return { ...(await jsonSchema(PipelineFile(), "input")), title: "acode pipeline" }
  },
  script: async () => (await import("../../../app/verbs/script-json-schema.ts")).scriptJsonSchema(),
  events: async () => {
    const { manifest } = await import("../../../domain/events/manifest.ts")
    const definitions: Record<string, unknown> = {}
    for (const { type, version, summary, data } of manifest.definitions)
      definitions[`${type}@${version}`] = { ...(await jsonSchema(data)), title: type, description: summary }
    return { $schema: "https://json-schema.org/draft/2020-12/schema", $defs: definitions }
  },
}

export const schema = defineCommand({
  name: "schema",
  summary: "print a JSON Schema",
  arguments: [{ name: "NAME", summary: Object.keys(schemas).join(" | ") }],
  flags: {},
  examples: [
    { line: "acode schema config > acode.schema.json", note: "for an editor" },
    { line: "acode schema plan", note: "how a plan is written" },
    { line: "acode schema task", note: "the front matter of a task" },
    { line: "acode schema pipeline", note: "how tasks of skills are chained" },
    { line: "acode schema script", note: "how a scripted model is written" },
    { line: "acode schema command-result", note: "what exec --json prints" },
  ],
  run: async ({ arguments: [name = ""] }, { output }) => {
    const load = schemas[name]
    if (load === undefined) throw unknownSchema(name)
    output.json(await load())
    return 0
  },
})

async function jsonSchema(type: ZodMiniType, io?: "input" | "output"): Promise<Record<string, unknown>> {
  return (await import("./schema-json.ts")).schemaJson(type, io)
}

function unknownSchema(name: string): Failure {
  const meant = nearest(name, Object.keys(schemas))
  return new Failure({
    kind: "usage",
    code: "ACODE-CLI-003",
    message: `there is no schema "${printable(name)}"`,
    where: "acode schema",
    hint: meant === null ? `one of ${Object.keys(schemas).join(", ")}` : `did you mean ${meant}?`,
  })
}
