import type { ApprovalPrompt } from "./app/approval-desk.ts"
import {
  type Acode,
  type AcodeOptions,
  type ExecOptions,
  openAcode,
  type PlanOptions,
  type RunOptions,
} from "./app/open-acode.ts"
import {
  AnthropicClaudeClient,
  type ClaudeClientConfig,
  providerClient,
} from "./app/skills/anthropic-client.ts"
import {
  loadSkillContent,
  type OpenSkillWorkspace,
  openSkillWorkspace,
  type SkillWorkspaceOptions,
} from "./app/skills/open-workspace.ts"
import type { AgentEnd } from "./app/verbs/agent.ts"
import type { CommandResult, ExecutionRecord } from "./domain/command-result.ts"
import { Failure, type FailureReport } from "./domain/failure.ts"
import { ExecutionError, type ExecutionErrorCode } from "./domain/skill/execution-error.ts"
import { buildPrompt, type Prompt, type PromptParts, type UpstreamOutput } from "./domain/skill/prompt.ts"
import type { SkillContent, SkillMeta, SkillReference } from "./domain/skill/skill-text.ts"
import type { Task, TaskInput, TaskNext, TaskPriority, TaskStatus } from "./domain/task.ts"
import type { PlanReport } from "./engine/lanes/plan-result.ts"
import type {
  ModelCall,
  ModelFailure,
  ModelItem,
  ModelMessage,
  ModelRequest,
  Provider,
  ToolDescription,
} from "./provider/contract.ts"
import type {
  AgentConfig,
  ClaimResult,
  ClaudeClient,
  ClaudeRequest,
  ClaudeResponse,
  ExecutionResult,
  ExecutionStatus,
  ModelTier,
  SkillWorkspace,
  TaskClaim,
  WrittenOutput,
} from "./skills/contract.ts"
import {
  AgentExecutor,
  createDefaultConfig,
  DEFAULT_MODEL_MAP,
  type ExecuteOptions,
  type ExecutorConfig,
  type ExecutorTiming,
} from "./skills/executor.ts"
import { MockClaudeClient } from "./skills/mock-client.ts"
import { cancellableSleep } from "./skills/sleep.ts"
import type { StoredEvent } from "./store/contract.ts"
import type { PlanApproval } from "./store/session/contract.ts"

export type {
  Acode,
  AcodeOptions,
  AgentConfig,
  AgentEnd,
  ApprovalPrompt,
  ClaimResult,
  ClaudeClient,
  ClaudeClientConfig,
  ClaudeRequest,
  ClaudeResponse,
  CommandResult,
  ExecOptions,
  ExecuteOptions,
  ExecutionErrorCode,
  ExecutionRecord,
  ExecutionResult,
  ExecutionStatus,
  ExecutorConfig,
  ExecutorTiming,
  FailureReport,
  ModelCall,
  ModelFailure,
  ModelItem,
  ModelMessage,
  ModelRequest,
  ModelTier,
  OpenSkillWorkspace,
  PlanApproval,
  PlanOptions,
  PlanReport,
  Prompt,
  PromptParts,
  Provider,
  RunOptions,
  SkillContent,
  SkillMeta,
  SkillReference,
  SkillWorkspace,
  SkillWorkspaceOptions,
  StoredEvent,
  Task,
  TaskClaim,
  TaskInput,
  TaskNext,
  TaskPriority,
  TaskStatus,
  ToolDescription,
  UpstreamOutput,
  WrittenOutput,
}
/** The interface of `acode` for programs. */
export {
  AgentExecutor,
  AnthropicClaudeClient,
  buildPrompt,
  cancellableSleep,
  createDefaultConfig,
  DEFAULT_MODEL_MAP,
  ExecutionError,
  Failure,
  loadSkillContent,
  MockClaudeClient,
  openAcode,
  openSkillWorkspace,
  providerClient,
}
