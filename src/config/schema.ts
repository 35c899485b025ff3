import { z } from "zod"
import { defaultConfig } from "./defaults.ts"
import { approvalsSection } from "./sections/approvals.ts"
import { codeSection } from "./sections/code.ts"
import { executionSection } from "./sections/execution.ts"
import { modelSection, modelsSection, modeSection } from "./sections/model.ts"
import { orchestrationSection, plannerSection } from "./sections/orchestration.ts"
import { executorSection, rulesList } from "./sections/rules.ts"
import { skillsSection } from "./sections/skills.ts"
import { checkpointsSection, storageSection } from "./sections/storage.ts"
import { commandsSection } from "./sections/verification.ts"

/**
 * The whole configuration. A new section is one file with its schema, one line here and its defaults in `defaults.ts`;
 * errors, editing, documentation and the JSON Schema follow from that.
 */
export const ConfigFile = z.strictObject({
  schema_version: z
    .literal(defaultConfig.schema_version)
    .describe('Version of this format, as text in quotes: "1".'),
  execution: executionSection(),
  approvals: approvalsSection(),
  rules: rulesList(),
  executor: executorSection(),
  orchestration: orchestrationSection(),
  planner: plannerSection(),
  commands: commandsSection(),
  mode: modeSection(),
  model: modelSection(),
  models: modelsSection(),
  checkpoints: checkpointsSection(),
  storage: storageSection(),
  code: codeSection(),
  skills: skillsSection(),
})

/** The configuration in force: every key has a value. */
export type Config = z.output<typeof ConfigFile>
