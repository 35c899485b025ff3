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
import { ExecutionError, type ExecutionErrorCode } from "./domain/skill/execution-error.ts"
import { buildPrompt, type Prompt, type PromptParts, type UpstreamOutput } from "./domain/skill/prompt.ts"
import type { SkillContent, SkillMeta, SkillReference } from "./domain/skill/skill-text.ts"
import type { Task, TaskInput, TaskNext, TaskPriority, TaskStatus } from "./domain/task.ts"
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

export type {
  AgentConfig,
  ClaimResult,
  ClaudeClient,
  ClaudeClientConfig,
  ClaudeRequest,
  ClaudeResponse,
  ExecuteOptions,
  ExecutionErrorCode,
  ExecutionResult,
  ExecutionStatus,
  ExecutorConfig,
  ExecutorTiming,
  ModelCall,
  ModelFailure,
  ModelItem,
  ModelMessage,
  ModelRequest,
  ModelTier,
  OpenSkillWorkspace,
  Prompt,
  PromptParts,
  Provider,
  SkillContent,
  SkillMeta,
  SkillReference,
  SkillWorkspace,
  SkillWorkspaceOptions,
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
/** The interface of `acode` for programs that execute tasks themselves. */
export {
  AgentExecutor,
  AnthropicClaudeClient,
  buildPrompt,
  cancellableSleep,
  createDefaultConfig,
  DEFAULT_MODEL_MAP,
  ExecutionError,
  loadSkillContent,
  MockClaudeClient,
  openSkillWorkspace,
  providerClient,
}
