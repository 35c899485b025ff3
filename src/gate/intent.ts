import { ToolCallStarted } from "../domain/call-events.ts"
import type { Decision } from "../domain/effect.ts"
import { type NewEvent, newEvent } from "../domain/event-definition.ts"
import type { EffectClass, FileChange } from "../domain/tool-call.ts"
import type { DeclaredCall, PreparedCall } from "../tools/contract.ts"
import type { Checkpoint, Checkpoints, TakeResult } from "../workspace/checkpoint/contract.ts"
import type { Workspace } from "../workspace/contract.ts"
import type { GateParts } from "./contract.ts"

export interface Intent {
  readonly effectClass: EffectClass
  /** The tree before a command, also where no copy of it was kept; null for what is no command. */
  readonly treeBefore: KnownTree | null
  readonly event: NewEvent
}

/** What was where, without the contents: enough to tell what changed. */
type KnownTree = Pick<Checkpoint, "entries">

/** Takes the pre-image, and says what is about to be done in a way that can be looked up after a crash. */
export async function intend(
  parts: GateParts,
  call: {
    readonly callId: string
    readonly declared: DeclaredCall
    readonly prepared: PreparedCall
    readonly decision: Decision
    readonly approvalId: string | null
  },
): Promise<Intent> {
  const { callId, declared, prepared, decision } = call
  const { checkpoint, treeBefore } = await preImage(parts, callId, declared, prepared)
  const effectClass = classOf(parts, declared, checkpoint)
  const { network } = declared
  const event = newEvent(ToolCallStarted, {
    callId,
    effectClass,
    targets: [...prepared.targets],
    checkpointId: checkpoint?.id ?? null,
    approvalId: call.approvalId,
    decision: {
      decision: decision.decision,
      rule: decision.rule,
      reason: decision.reason,
      level: decision.level,
    },
    confinement: network === null ? null : { sandboxed: parts.room.hasSandbox, network },
  })
  return { effectClass, treeBefore, event }
}

/** What is different in the tree since a pre-image was taken, or would have been. */
export async function contentsChanged(
  checkpoints: Checkpoints,
  workspace: Workspace,
  before: KnownTree,
): Promise<readonly FileChange[]> {
  const contents = checkpoints.contentsSince(before, await workspace.tree())
  return [...contents].map(([path, after]) => ({ path, before: contentOf(before, path), after }))
}

interface PreImage {
  /** Null where it is too large or cannot be read: then the call cannot be undone, and a command not be repeated. */
  readonly checkpoint: Checkpoint | null
  readonly treeBefore: KnownTree | null
}

async function preImage(
  { checkpoints, room }: GateParts,
  callId: string,
  { effectClass }: DeclaredCall,
  { targets }: PreparedCall,
): Promise<PreImage> {
  if (effectClass === "read") return { checkpoint: null, treeBefore: null }
  if (effectClass !== "run") {
    const paths = targets.map(({ path }) => path)
    return { checkpoint: takenOf(await checkpoints.takeFiles(callId, paths)), treeBefore: null }
  }
  const tree = await room.workspace.tree()
  const checkpoint = takenOf(await checkpoints.takeTree(callId, tree))
  // What a command changes is told all the same: an undo that does not know of it would say that all is back.
  return {
    checkpoint,
    treeBefore: checkpoint ?? { entries: new Map(tree.entries.map(each => [each.path, each])) },
  }
}

function takenOf(taken: TakeResult): Checkpoint | null {
  return taken.kind === "taken" ? taken.checkpoint : null
}

/** A command is repeatable only if it can have touched nothing but the workspace, and that can be put back. */
function classOf({ room }: GateParts, declared: DeclaredCall, checkpoint: Checkpoint | null): EffectClass {
  if (declared.effectClass !== "run") return declared.effectClass
  const isContained = room.hasSandbox && declared.network === "none" && checkpoint !== null
  return isContained ? "run" : "once"
}

function contentOf({ entries }: KnownTree, path: string): string | null {
  const entry = entries.get(path)
  if (entry === undefined) return null
  return entry.kind === "file" ? entry.sha256 : `link:${entry.target}`
}
