import { agentList, agentPipeline, agentReset, agentRun, agentShow } from "./agent.ts"
import { approvalsList } from "./approvals-list.ts"
import { approvalsShow } from "./approvals-show.ts"
import { approve } from "./approve.ts"
import { auditAccept } from "./audit-accept.ts"
import { auditVerify } from "./audit-verify.ts"
import { cancel } from "./cancel.ts"
import { checkpointList, checkpointRestore, checkpointShow } from "./checkpoints.ts"
import { configGet } from "./config-get.ts"
import { configMatrix } from "./config-matrix.ts"
import { configMode } from "./config-mode.ts"
import { configPath } from "./config-path.ts"
import { configSet } from "./config-set.ts"
import { configShow } from "./config-show.ts"
import { configTrust } from "./config-trust.ts"
import type { CliCommand } from "./definition.ts"
import { demo } from "./demo.ts"
import { deny } from "./deny.ts"
import { doctor } from "./doctor.ts"
import { evidenceByCode } from "./evidence-by-code.ts"
import { evidenceByFile } from "./evidence-by-file.ts"
import { evidenceByTool } from "./evidence-by-tool.ts"
import { evidenceFailures } from "./evidence-failures.ts"
import { evidenceFixes } from "./evidence-fixes.ts"
import { evidenceLatest } from "./evidence-latest.ts"
import { evidenceRecurring } from "./evidence-recurring.ts"
import { evidenceShow } from "./evidence-show.ts"
import { exec } from "./exec.ts"
import { modelsList } from "./models-list.ts"
import { modelsProbe } from "./models-probe.ts"
import { pause } from "./pause.ts"
import { planApprove } from "./plan-approve.ts"
import { planHash } from "./plan-hash.ts"
import { planRun } from "./plan-run.ts"
import { planShow } from "./plan-show.ts"
import { planValidate } from "./plan-validate.ts"
import { policyCheck } from "./policy-check.ts"
import { redact } from "./redact.ts"
import { resume } from "./resume.ts"
import { run, task } from "./run.ts"
import { runsList } from "./runs-list.ts"
import { runsPrune } from "./runs-prune.ts"
import { runsShow } from "./runs-show.ts"
import { runsStats } from "./runs-stats.ts"
import { schema } from "./schema.ts"
import { sessionList } from "./session-list.ts"
import { sessionLogs } from "./session-logs.ts"
import { sessionPrune } from "./session-prune.ts"
import { sessionShow } from "./session-show.ts"
import { sessionUndo } from "./session-undo.ts"
import { sessionValidate } from "./session-validate.ts"
import { skillsList, skillsShow } from "./skills.ts"
import { status } from "./status.ts"
import { storageFree, storageShow } from "./storage.ts"
import { workspaceAdopt, workspaceForget, workspaceList } from "./workspace.ts"

/** Every verb, in the order help shows them. */
export const cliCommands: readonly CliCommand[] = [
  run,
  task,
  resume,
  status,
  pause,
  cancel,
  planValidate,
  planShow,
  planHash,
  planApprove,
  planRun,
  sessionList,
  sessionShow,
  sessionLogs,
  sessionUndo,
  sessionValidate,
  sessionPrune,
  checkpointList,
  checkpointShow,
  checkpointRestore,
  approvalsList,
  approvalsShow,
  approve,
  deny,
  evidenceByTool,
  evidenceFailures,
  evidenceByCode,
  evidenceByFile,
  evidenceShow,
  evidenceLatest,
  evidenceRecurring,
  evidenceFixes,
  exec,
  runsList,
  runsShow,
  runsPrune,
  runsStats,
  auditVerify,
  auditAccept,
  storageShow,
  storageFree,
  workspaceList,
  workspaceAdopt,
  workspaceForget,
  agentRun,
  agentPipeline,
  agentList,
  agentShow,
  agentReset,
  skillsList,
  skillsShow,
  modelsList,
  modelsProbe,
  policyCheck,
  redact,
  configShow,
  configGet,
  configSet,
  configPath,
  configMode,
  configMatrix,
  configTrust,
  schema,
  doctor,
  demo,
]
