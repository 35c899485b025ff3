import { changing, event, remarks, sessionWriter } from "../../store/support/session-events.ts"
import { openTempStore } from "../workspace/temp-store.ts"
import type { TempWorkspace } from "../workspace/temp-workspace.ts"

export const seeded = {
  session: "ses_01890000-0000-7000-8000-00000000aaaa",
  reading: "cal_01890000-0000-7000-8000-00000000bbb1",
  failing: "cal_01890000-0000-7000-8000-00000000bbb2",
  writing: "cal_01890000-0000-7000-8000-00000000bbb3",
  waiting: "cal_01890000-0000-7000-8000-00000000bbb4",
  approval: "apr_01890000-0000-7000-8000-00000000cccc",
} as const

/**
 * Records a session of four steps in the workspace: a read, a command that fails with TS2322, a write of the same file,
 * and a deletion that still waits for an answer. It belongs to this process, so that it does not count as dead.
 */
export function seedSession(workspace: TempWorkspace, options: { readonly expiresAt?: string } = {}): void {
  using store = openTempStore(workspace)
  const { append } = sessionWriter(store, seeded.session)
  append(event.sessionStarted({ goal: "fix a.ts", stepCount: 4 }))
  append(
    ...begun("s1", 0, "look", "file_read", seeded.reading),
    event.callStarted(seeded.reading),
    event.callSettled(seeded.reading, { paths: ["src/a.ts"] }),
    event.stepFinished({ stepId: "s1", index: 0, callId: seeded.reading }),
  )
  append(
    ...begun("s2", 1, "check", "run_command", seeded.failing),
    event.callStarted(seeded.failing, { effectClass: "run" }),
    event.callSettled(seeded.failing, {
      outcome: "failed",
      exitCode: 2,
      error: { code: "ACODE-EXE-003", message: "tsc \u001b[31mfailed", where: null, hint: null },
      ...remarks("src/a.ts", "TS2322", "TS2322"),
    }),
    event.stepFinished({
      stepId: "s2",
      index: 1,
      callId: seeded.failing,
      success: false,
      code: "ACODE-EXE-003",
    }),
  )
  append(
    ...begun("s3", 2, "mend", "file_write", seeded.writing),
    event.callStarted(seeded.writing, { effectClass: "replace" }),
    event.callSettled(seeded.writing, changing("src/a.ts")),
    event.stepFinished({ stepId: "s3", index: 2, callId: seeded.writing }),
  )
  append(...begun("s4", 3, "tidy", "delete_file", seeded.waiting), question(options.expiresAt ?? null))
}

const canonicalNames = new Map([
  ["file_read", "read_file"],
  ["file_write", "write_file"],
])

function begun(stepId: string, index: number, title: string, tool: string, callId: string) {
  const origin = {
    planId: "plan-1",
    planHash: "sha256:1",
    taskId: "t1",
    stepId,
    stepKey: stepId,
    modelCallId: null,
  }
  return [
    event.stepStarted({ stepId, index, title, tool }),
    event.callRequested(callId, { tool, canonicalTool: canonicalNames.get(tool) ?? tool, origin }),
  ]
}

function question(expiresAt: string | null) {
  return event.approvalRequested(seeded.approval, seeded.session, {
    callId: seeded.waiting,
    stepId: "s4",
    level: 3,
    category: "FILE_DELETE",
    operation: "delete \u202eb.ts",
    files: ["b.ts"],
    isRedacted: false,
    preview: { kind: "inline", text: "  1 - const b = 1\n" },
    expiresAt,
  })
}
