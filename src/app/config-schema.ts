import { z } from "zod"
import { approvalsSection } from "./config-approvals.ts"
import { checkpointsSection } from "./config-checkpoints.ts"
import { defaultConfig } from "./config-defaults.ts"
import { executionSection } from "./config-execution.ts"
import { modeSection } from "./config-mode.ts"
import { modelSection, modelsSection } from "./config-model.ts"
import { orchestrationSection } from "./config-orchestration.ts"
import { executorSection, rulesList } from "./config-rules.ts"
import { skillsSection } from "./config-skills.ts"
import { storageSection } from "./config-storage.ts"
import { commandsSection } from "./config-verification.ts"

/**
 * The whole configuration. A new section is one file with its schema, one line here and its defaults in
 * `config-defaults.ts`; everything else (errors, editing, docs, JSON Schema) follows from that.
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
  commands: commandsSection(),
  mode: modeSection(),
  model: modelSection(),
  models: modelsSection(),
  checkpoints: checkpointsSection(),
  storage: storageSection(),
  skills: skillsSection(),
})

/** The configuration in force: every key has a value. */
export type Config = z.output<typeof ConfigFile>
