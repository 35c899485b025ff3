import * as z from "zod/mini"
import { lazily } from "../base/lazy.ts"
import { counted } from "../base/text.ts"
import { stepActions } from "../domain/plan/tool-traits.ts"
import type { Tool } from "./contract.ts"
import { callPath, pathEffects } from "./path-effects.ts"
import { preparedRead, toolResult } from "./tool-result.ts"

const Arguments = lazily(() =>
  z.strictObject({
    name: z.string().check(z.minLength(1)),
    reference: z.optional(z.string().check(z.minLength(1))),
  }),
)

/** Shows a skill to a model. Whatever the skill says, the step keeps its tools and its grant. */
export const useSkillTool: Tool = {
  name: "use_skill",
  description:
    "Shows a skill by its name: instructions for one kind of work. With reference, one of the files that belong to it, " +
    "such as references/style.md. A skill allows nothing that the step does not.",
  isForModelsOnly: true,
  schema: Arguments,
  required: ["name"],
  kind: "find",
  aliases: {},
  actions: stepActions,
  declare: (json, deps) => {
    const { name, reference = null } = Arguments().parse(json)
    const file = deps.skills.workspaceFileOf(name, reference)
    const operation = `use the skill ${name}${reference === null ? "" : `, ${reference}`}`
    return {
      effects: file === null ? [] : pathEffects(deps.workspace, callPath(deps.workspace, file), "read"),
      effectClass: "read",
      network: null,
      operation,
      prepare: async () =>
        preparedRead(operation, async () => {
          const skill = deps.skills.read(name, reference)
          const content = deps.redactor.redactText(skill.text)
          const references = skill.references.map(each => `- ${each}\n`)
          const more =
            references.length === 0 || reference !== null
              ? ""
              : `\n[${counted(references.length, "reference")}, shown by use_skill with reference]\n${references.join("")}`
          const result = {
            value: { name, reference, content, references: [...skill.references] },
            text: content + deps.redactor.redactText(more),
            paths: file === null ? [] : [file],
          }
          return toolResult(deps, result, true)
        }),
    }
  },
}
