import { auditAccept } from "../audit-accept.ts"
import type { CliCommand } from "../definition.ts"
import { auditVerify } from "./history/audit.ts"
import { checkpointList, checkpointRestore, checkpointShow } from "./history/checkpoint.ts"
import {
  evidenceByCode,
  evidenceByFile,
  evidenceByTool,
  evidenceFailures,
  evidenceFixes,
  evidenceLatest,
  evidenceRecurring,
  evidenceShow,
} from "./history/evidence.ts"
import { runsList, runsPrune, runsShow, runsStats } from "./history/runs.ts"
import { sessionList, sessionLogs, sessionPrune, sessionShow, sessionValidate } from "./history/session.ts"
import { sessionUndo } from "./history/session-undo.ts"
import {
  configGet,
  configMatrix,
  configMode,
  configPath,
  configSet,
  configShow,
  configTrust,
} from "./setup/config.ts"
import { demo } from "./setup/demo.ts"
import { doctor } from "./setup/doctor.ts"
import { modelsList, modelsProbe } from "./setup/models.ts"
import { policyCheck } from "./setup/policy.ts"
import { redact } from "./setup/redact.ts"
import { schema } from "./setup/schema.ts"
import { storageFree, storageShow } from "./setup/storage.ts"
import { workspaceAdopt, workspaceForget, workspaceList } from "./setup/workspace.ts"
import { agentList, agentPipeline, agentReset, agentRun, agentShow } from "./work/agent.ts"
import { approvalsList, approvalsShow, approve, deny } from "./work/approvals.ts"
import { askQuestion } from "./work/ask.ts"
import { index, outline, refs, symbols } from "./work/code.ts"
import { cancel, pause } from "./work/control.ts"
import { exec } from "./work/exec.ts"
import { planApprove, planHashCommand, planRevoke, planRun, planShow, planValidate } from "./work/plan.ts"
import { resume } from "./work/resume.ts"
import { run, task } from "./work/run.ts"
import { skillsList, skillsShow } from "./work/skills.ts"
import { status } from "./work/status.ts"

/** Every verb, in the order help shows them. */
export const cliCommands: readonly CliCommand[] = [
  run,
  task,
  askQuestion,
  resume,
  status,
  pause,
  cancel,
  planValidate,
  planShow,
  planHashCommand,
  planApprove,
  planRevoke,
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
  index,
  symbols,
  refs,
  outline,
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
