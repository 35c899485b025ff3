import {
  ApprovalAnswered,
  ApprovalRequested,
  ToolCallRequested,
  ToolCallSettled,
  ToolCallStarted,
} from "./call-events.ts"
import { CommandFinished, CommandStarted, HistoryPruned } from "./command-events.ts"
import { EventManifest } from "./event-definition.ts"
import {
  PlanApproved,
  SessionFinished,
  SessionRested,
  SessionStarted,
  SessionUndone,
  StepFinished,
  StepStarted,
} from "./session-events.ts"

/** Every event type of the product. */
export const manifest = new EventManifest([
  CommandStarted,
  CommandFinished,
  HistoryPruned,
  SessionStarted,
  SessionRested,
  SessionFinished,
  SessionUndone,
  PlanApproved,
  StepStarted,
  StepFinished,
  ToolCallRequested,
  ToolCallStarted,
  ToolCallSettled,
  ApprovalRequested,
  ApprovalAnswered,
])
