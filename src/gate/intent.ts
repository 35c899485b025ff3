import { quotedPath, shownPath } from "../base/path-names.ts"
import type { Decision } from "../domain/effect.ts"
import { ToolCallStarted } from "../domain/events/call-events.ts"
import { type NewEvent, newEvent } from "../domain/events/definition.ts"
import { Failure } from "../domain/failure.ts"
import type { DirectoryModes, EffectClass, FileChange, UncoveredChanges } from "../domain/tool-call.ts"
import type { DeclaredCall, PreparedCall } from "../tools/contract.ts"
import type { Checkpoint, Checkpoints, IgnoredChanges, PathReason } from "../workspace/checkpoint/contract.ts"
import type { Workspace } from "../workspace/contract.ts"
import type { GateParts } from "./contract.ts"
import type { FoundChanges } from "./outcome.ts"

export interface Intent {
  readonly effectClass: EffectClass
  /**
   * The pre-image of the whole tree for a command, of its targets for another tool; null for a call that only reads.
   */
  readonly preImage: Checkpoint | null
  readonly event: NewEvent
}

/** Takes the pre-image and describes the intended change so that it can be checked after a crash. */
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
  const checkpoint = await preImage(parts, callId, declared, prepared)
  const effectClass = classOf(parts, declared)
  const { network, hosts } = declared
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
    confinement:
      network === null
        ? null
        : {
            sandboxed: parts.room.hasSandbox,
            network,
            ...(hosts === undefined ? {} : { hosts: [...hosts] }),
          },
    ...(effectClass === "read" ? {} : { head: parts.room.workspace.gitHead() }),
  })
  return { effectClass, preImage: checkpoint, event }
}

/** Returns the differences of the tree since a pre-image was taken, and those of them that cannot be undone. */
export async function contentsChanged(
  checkpoints: Checkpoints,
  workspace: Workspace,
  before: Checkpoint,
): Promise<FoundChanges> {
  const { ignoring } = before
  const tree = await workspace.tree({
    graceMs: lookAfterGraceMs,
    watchesIgnored: ignoring?.files != null,
    ...(ignoring === undefined ? {} : { rules: ignoring.rules }),
  })
  const contents = checkpoints.contentsSince(before, tree)
  const changes = [...contents].map(([path, after]) => ({ path, before: contentOf(before, path), after }))
  const modes = new Map(before.directories.map(({ path, mode }) => [path, mode]))
  const directories = [...checkpoints.directoriesSince(before, tree)].map(
    ([path, mode]): DirectoryModes[number] => [path, modes.get(path) ?? null, mode],
  )
  const ignored = checkpoints.ignoredSince(before, tree)
  const uncovered = uncoveredOf(before, changes, ignored, checkpoints.hiddenSince(before, tree))
  return { changes, uncovered, directories }
}

/** Returns the same for a tool that reports which files it changed. */
export function foundBy(
  checkpoints: Checkpoints,
  preImage: Checkpoint | null,
  changes: readonly FileChange[],
): FoundChanges {
  if (preImage === null) return { changes, uncovered: null }
  const directories = [...checkpoints.modesAt(preImage.missing ?? [])].flatMap(
    ([path, mode]): DirectoryModes => (mode === null ? [] : [[path, null, mode]]),
  )
  return { changes, uncovered: uncoveredOf(preImage, changes), directories }
}

/** The time in which acode may read what a command left after the user stopped acode. */
const lookAfterGraceMs = 1000

/** Returns the changes that no checkpoint holds: those outside this one, and those in ignored files. */
function uncoveredOf(
  { uncovered }: Checkpoint,
  changes: readonly FileChange[],
  { paths: ignored, unwatched }: IgnoredChanges = { paths: [], unwatched: [] },
  hidden: readonly PathReason[] = [],
): UncoveredChanges | null {
  const known = changes.flatMap(({ path }) => {
    const reason = uncovered.get(path)
    return reason === undefined ? [] : [{ path, reason }]
  })
  const paths = [...known, ...hidden, ...ignored.map(path => ({ path, reason: ignoredReason }))]
  if (paths.length + unwatched.length === 0) return null
  return { paths: paths.slice(0, namesMax), count: paths.length, unwatched: unwatched.slice(0, namesMax) }
}

const ignoredReason = "git ignores it, so no copy was kept"

/** The most names in an event; it counts all of them. */
const namesMax = 100

/** Takes the pre-image; null for a call that only reads. */
async function preImage(
  { checkpoints, room }: GateParts,
  callId: string,
  { effectClass }: DeclaredCall,
  { targets }: PreparedCall,
): Promise<Checkpoint | null> {
  if (effectClass === "read") return null
  if (effectClass === "run") {
    const tree = await room.workspace.tree({ watchesIgnored: true })
    return (await checkpoints.takeTree(callId, tree)).checkpoint
  }
  const paths = targets.map(({ path }) => path)
  const { checkpoint } = await checkpoints.takeFiles(callId, paths)
  refuseUncovered(checkpoint)
  return checkpoint
}

/**
 * Refuses to replace a file without a copy. Only tools know their targets in advance; those of a command are unknown.
 */
function refuseUncovered({ uncovered }: Checkpoint): void {
  for (const [path, reason] of uncovered)
    throw new Failure({
      kind: "general",
      code: "ACODE-FS-006",
      message: `${quotedPath(path)} is not changed, because it could not be restored: ${reason}`,
      where: shownPath(path),
      hint: "raise the named limit, or change the file with a command",
    })
}

/** A command in a sandbox without network can have touched nothing but the workspace. */
function classOf({ room }: GateParts, declared: DeclaredCall): EffectClass {
  if (declared.effectClass !== "run") return declared.effectClass
  return room.hasSandbox && declared.network === "none" ? "run" : "once"
}

function contentOf({ entries }: Checkpoint, path: string): string | null {
  const entry = entries.get(path)
  if (entry === undefined) return null
  if (entry.kind === "special") return entry.special
  return entry.kind === "file" ? (entry.sha256 ?? entry.identity ?? null) : `link:${entry.target}`
}
