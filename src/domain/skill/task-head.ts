import * as z from "zod/mini"
import { lazily } from "../../base/lazy.ts"
import { described } from "../events/definition.ts"
import { isSkillName, isTaskId, taskNextTypes, taskPriorities, taskStatuses } from "../task.ts"

const SkillName = () => z.string().check(z.refine(isSkillName, "is not the name of a skill"))
const Instant = (description: string) => described(z.string().check(z.regex(/^\d{4}-\d\d-\d\d/)), description)

/**
 * The front matter of a task as people write it, for `acode schema task`. `task-text.ts` reads it line by line, so that
 * a change of one value leaves every other byte as it is. Keys that are not named here are kept.
 */
export const TaskHead = lazily(() =>
  z.looseObject({
    id: described(
      z.string().check(z.refine(isTaskId, "is not an id")),
      "letters, digits, dot, dash and underscore, at most 128; the name of the file without .md",
    ),
    status: z.enum(taskStatuses),
    priority: z.enum(taskPriorities),
    from: described(z.string(), "who asks for it"),
    to: described(SkillName(), "the skill that does it"),
    created_at: Instant("a date or a time, such as 2026-01-15T10:00:00Z"),
    updated_at: Instant("written by acode with every change of the status"),
    deadline: z.optional(Instant("a date or a time")),
    goal_id: z.optional(z.string()),
    pipeline_id: z.optional(z.string()),
    revision_count: z.optional(z.int().check(z.minimum(0), z.maximum(999_999))),
    output_path: described(z.string().check(z.minLength(1)), "below skills.workspace"),
    output_format: z.optional(z.string()),
    next_type: z.optional(z.enum(taskNextTypes)),
    next_skill: z.optional(described(SkillName(), "needed with next_type: agent")),
    next_pipeline: z.optional(described(z.string(), "needed with next_type: pipeline_continue")),
    tags: z.optional(described(z.union([z.string(), z.array(z.string())]), "a, b or [a, b]")),
    metadata: z.optional(
      described(z.string(), "a JSON object on one line, in single quotes; model_tier names a tier"),
    ),
  }),
)
