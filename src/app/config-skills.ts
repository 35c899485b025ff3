import { z } from "zod"
import { defaultConfig } from "./config-defaults.ts"

const defaults = defaultConfig.skills

/** The `skills:` section: where skills are found and how their tasks are executed. */
export function skillsSection() {
  return z
    .strictObject({
      directories: z
        .array(
          z
            .string()
            .regex(/^(\/|~\/)[^\0]*$/)
            .max(1000)
            .describe("an absolute path, or one below ~/"),
        )
        .max(50)
        .default([...defaults.directories])
        .describe("Further folders of skills, one folder for each skill; they come before the usual ones."),
    })
    .prefault({})
    .describe("Skills, and the tasks that they do.")
}
