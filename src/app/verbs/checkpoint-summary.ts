import type { Store } from "../../store/contract.ts"
import type { Checkpoint, Checkpoints } from "../../workspace/checkpoint/contract.ts"
import { isKeptCheckpoint } from "../state/kept-copies.ts"

/** A checkpoint as it is listed. */
export interface CheckpointSummary {
  readonly id: string
  readonly at: string
  /** `preImage`: taken before a call. The other kinds: taken before files were restored. */
  readonly kind: "preImage" | "undo" | "recovery" | "restore"
  /** The reason for the checkpoint in words. */
  readonly why: string
  readonly sessionId: string | null
  readonly callId: string | null
  /** The number of files and symlinks. */
  readonly fileCount: number
  readonly sizeBytes: number
}

/** Lists checkpoints, newest first. A damaged one is omitted: nothing in it can be restored. */
export function checkpointSummaries(
  checkpoints: Checkpoints,
  store: Store | null,
): readonly CheckpointSummary[] {
  return checkpoints
    .list()
    .toReversed()
    .flatMap(({ id }) => {
      const checkpoint = checkpoints.load(id)
      return checkpoint === null ? [] : [summaryOf(checkpoint, store)]
    })
}

/** Lists kept copies, oldest first. Pre-images are recognised by their ids and not read: they are large. */
export function keptCopies(checkpoints: Checkpoints, sessionId: string): readonly CheckpointSummary[] {
  return checkpoints
    .ids()
    .filter(isKeptCheckpoint)
    .toSorted()
    .flatMap(id => checkpoints.load(id) ?? [])
    .filter(({ kept }) => kept?.about.sessionId === sessionId)
    .map(checkpoint => summaryOf(checkpoint, null))
}

export function summaryOf(checkpoint: Checkpoint, store: Store | null): CheckpointSummary {
  const { id, at, entries } = checkpoint
  const sizes = [...entries.values()].map(entry => (entry.kind === "file" ? entry.sizeBytes : 0))
  const sizeBytes = sizes.reduce((sum, size) => sum + size, 0)
  return { id, at, ...reasonOf(checkpoint, store), fileCount: entries.size, sizeBytes }
}

function reasonOf(
  { id, kept, scope }: Checkpoint,
  store: Store | null,
): Pick<CheckpointSummary, "kind" | "why" | "sessionId" | "callId"> {
  if (kept === undefined) {
    const call = store?.evidence.show(id) ?? null
    const what = scope === "tree" ? "all files before" : "before"
    const why = call === null ? `${what} a call that is not in the history` : `${what} ${call.tool}`
    return { kind: "preImage", why, sessionId: call?.sessionId ?? null, callId: call === null ? null : id }
  }
  const { kind, sessionId, subjectId } = kept.about
  const callId = kind === "recovery" ? subjectId : null
  switch (kind) {
    case "undo":
      return { kind, why: `kept before undo of session ${sessionId ?? "-"}`, sessionId, callId }
    case "recovery":
      return { kind, why: `kept before recovery of call ${subjectId ?? "-"}`, sessionId, callId }
    case "restore":
      return { kind, why: `kept before restore of checkpoint ${subjectId ?? "-"}`, sessionId, callId }
  }
}
