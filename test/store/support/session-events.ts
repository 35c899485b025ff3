import type { z } from "zod"
import {
  ApprovalAnswered,
  ApprovalRequested,
  ToolCallRequested,
  ToolCallSettled,
  ToolCallStarted,
} from "../../../src/domain/events/call-events.ts"
import { type EventDefinition, type NewEvent, newEvent } from "../../../src/domain/events/definition.ts"
import { SessionResumed } from "../../../src/domain/events/pipeline-events.ts"
import {
  SessionFinished,
  SessionRested,
  SessionStarted,
  SessionUndone,
  StepFinished,
  StepStarted,
} from "../../../src/domain/events/session-events.ts"
import { plainSettings } from "../../../src/domain/pipeline-settings.ts"
import type { Store, StoredEvent } from "../../../src/store/contract.ts"
import { processIdentity } from "../../../src/store/process-identity.ts"
import { defaultLimits } from "../../support/pipeline/default-limits.ts"

type Change<Definition extends EventDefinition> = Partial<z.infer<Definition["data"]>>

/** Whole, valid events of a session; a test names only what it is about. */
export const event = {
  sessionStarted: (change: Change<typeof SessionStarted> = {}) =>
    newEvent(SessionStarted, {
      lane: "plan",
      goal: "tidy up",
      planId: "plan-1",
      planHash: `sha256:${"1".repeat(64)}`,
      approvalId: null,
      plan: null,
      stepCount: 1,
      policyVersion: "p1",
      agent: null,
      treeDigest: null,
      outputs: [],
      worktreeId: null,
      repoSha: null,
      owner: processIdentity(),
      ...change,
    }),
  sessionRested: (change: Change<typeof SessionRested> = {}) =>
    newEvent(SessionRested, {
      state: "AWAITING_APPROVAL",
      reason: "nobody is there",
      exitCode: 10,
      unverified: false,
      ...change,
    }),
  sessionFinished: (change: Change<typeof SessionFinished> = {}) =>
    newEvent(SessionFinished, {
      state: "COMPLETED",
      reason: "all steps done",
      exitCode: 0,
      unverified: false,
      treeDigest: null,
      wallMs: 5,
      toolMs: 3,
      waitMs: 0,
      ...change,
    }),
  sessionResumed: () =>
    newEvent(SessionResumed, {
      settings: { ...plainSettings, limits: defaultLimits },
      skipsFailed: false,
      by: "ada",
      owner: processIdentity(),
    }),
  sessionUndone: (change: Change<typeof SessionUndone> = {}) =>
    newEvent(SessionUndone, {
      restored: ["a.txt"],
      removed: [],
      foreign: [],
      blocked: [],
      by: "ada",
      ...change,
    }),
  stepStarted: (change: Change<typeof StepStarted> = {}) =>
    newEvent(StepStarted, {
      taskId: "t1",
      stepId: "s1",
      index: 0,
      title: "first",
      tool: "file_read",
      stepKey: "k1",
      ...change,
    }),
  stepFinished: (change: Change<typeof StepFinished> = {}) =>
    newEvent(StepFinished, {
      taskId: "t1",
      stepId: "s1",
      index: 0,
      success: true,
      callId: null,
      code: null,
      message: null,
      diagnostics: [],
      durationMs: 1,
      waitMs: 0,
      ...change,
    }),
  callRequested: (callId: string, change: Change<typeof ToolCallRequested> = {}) =>
    newEvent(ToolCallRequested, {
      callId,
      tool: "file_read",
      canonicalTool: "read_file",
      arguments: { kind: "inline", value: { path: "a.txt" } },
      argsDigest: "digest",
      origin: {
        planId: "plan-1",
        planHash: "sha256:1",
        taskId: "t1",
        stepId: "s1",
        stepKey: "k1",
        modelCallId: null,
      },
      ...change,
    }),
  callStarted: (callId: string, change: Change<typeof ToolCallStarted> = {}) =>
    newEvent(ToolCallStarted, {
      callId,
      effectClass: "read",
      targets: [],
      checkpointId: null,
      approvalId: null,
      decision: { decision: "allow", rule: "reads", reason: "it only reads", level: 1 },
      confinement: null,
      ...change,
    }),
  callSettled: (callId: string, change: Change<typeof ToolCallSettled> = {}) =>
    newEvent(ToolCallSettled, {
      callId,
      outcome: "succeeded",
      certainty: "done",
      error: null,
      result: { kind: "inline", value: { content: "text" } },
      text: null,
      resultDigest: "sha256:2",
      exitCode: null,
      executionId: null,
      paths: ["a.txt"],
      changes: { kind: "inline", value: [] },
      diagnostics: [],
      durationMs: 4,
      waitMs: 0,
      ...change,
    }),
  approvalRequested: (approvalId: string, sessionId: string, change: Change<typeof ApprovalRequested> = {}) =>
    newEvent(ApprovalRequested, {
      approvalId,
      sessionId,
      callId: "cal_1",
      stepId: "s1",
      kind: "action",
      category: "FILE_WRITE",
      level: 2,
      operation: "write a.txt",
      files: ["a.txt"],
      reason: "writes are asked",
      rule: "default",
      preview: { kind: "inline", text: "+ line" },
      subjectHash: `sha256:${"3".repeat(64)}`,
      expiresAt: null,
      options: ["approve", "deny"],
      ...change,
    }),
  approvalAnswered: (approvalId: string, change: Change<typeof ApprovalAnswered> = {}) =>
    newEvent(ApprovalAnswered, {
      approvalId,
      answer: "refused",
      by: "nobody",
      via: "nobody",
      reason: null,
      expiresAt: "2026-01-02T04:00:00.000Z",
      ...change,
    }),
}

/** The one who owns a session's stream and appends to it. */
export interface SessionWriter {
  readonly id: string
  append(...events: readonly NewEvent[]): readonly StoredEvent[]
}

let sessions = 0

export function sessionWriter(store: Store, id = nextSession()): SessionWriter {
  const lease = store.leases.acquire(id, processIdentity())
  if (lease === null) throw new Error(`${id} belongs to somebody else`)
  let seq = store.log.read(id).length
  return {
    id,
    append: (...events) => {
      const stored = store.log.append(id, seq, lease.epoch, events)
      seq += stored.length
      return stored
    },
  }
}

function nextSession(): string {
  sessions += 1
  return `ses_00000000-0000-7000-8000-${sessions.toString(16).padStart(12, "0")}`
}

/** A session that has begun. */
export function startSession(
  store: Store,
  change: Parameters<typeof event.sessionStarted>[0] = {},
): SessionWriter {
  const writer = sessionWriter(store)
  writer.append(event.sessionStarted(change))
  return writer
}

/** One file changed: for `changes` of a call. */
export function changing(...paths: readonly string[]): Change<typeof ToolCallSettled> {
  const value = paths.map(path => ({ path, before: "1", after: "2" }))
  return { paths: [...paths], changes: { kind: "inline", value } }
}

/** One remark for each code: for `diagnostics` of a call. */
export function remarks(file: string, ...codes: readonly (string | null)[]): Change<typeof ToolCallSettled> {
  return {
    paths: [file],
    diagnostics: codes.map(code => ({
      level: "error",
      message: `about ${code}`,
      file_name: file,
      line_start: 1,
      code,
    })),
  }
}
