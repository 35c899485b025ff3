import { auditVerify } from "./audit-verify.ts"
import { configGet } from "./config-get.ts"
import { configPath } from "./config-path.ts"
import { configSet } from "./config-set.ts"
import { configShow } from "./config-show.ts"
import { configTrust } from "./config-trust.ts"
import type { CliCommand } from "./definition.ts"
import { doctor } from "./doctor.ts"
import { exec } from "./exec.ts"
import { policyCheck } from "./policy-check.ts"
import { redact } from "./redact.ts"
import { runsList } from "./runs-list.ts"
import { runsPrune } from "./runs-prune.ts"
import { runsShow } from "./runs-show.ts"
import { runsStats } from "./runs-stats.ts"
import { schema } from "./schema.ts"

/** Every verb, in the order help shows them. */
export const cliCommands: readonly CliCommand[] = [
  exec,
  runsList,
  runsShow,
  runsPrune,
  runsStats,
  auditVerify,
  policyCheck,
  redact,
  configShow,
  configGet,
  configSet,
  configPath,
  configTrust,
  schema,
  doctor,
]
