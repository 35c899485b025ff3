import type { BigIntStats } from "node:fs"
import { errnoOf } from "../../base/assert.ts"
import { nameOf, parentOf } from "../../base/path-names.ts"
import { Failure } from "../../domain/failure.ts"
import type { WhileOwned } from "../checkpoint/contract.ts"
import { mergeBackward, mergeForward, type TransactionContext } from "./carry-out.ts"
import type { CollectedLayers, Conflict, EntryStamp, RecoveredTransaction, UndoResult } from "./contract.ts"
import { Area, areaIds, removeArea } from "./journal.ts"
import type { Operation } from "./plan.ts"
import { isStamped, type OpenDirectory, openBelow, openPlace, statAt, surveyOf, unpaced } from "./upper.ts"

/** Settles every transaction that no process has open. */
export async function recoverAreas(
  context: TransactionContext,
  owned: WhileOwned,
): Promise<readonly RecoveredTransaction[]> {
  const recovered: RecoveredTransaction[] = []
  for (const id of areaIds(context.directory)) {
    const found = await recoverArea(context, id, owned)
    if (found !== null) recovered.push(found)
  }
  return recovered
}

async function recoverArea(
  context: TransactionContext,
  id: string,
  owned: WhileOwned,
): Promise<RecoveredTransaction | null> {
  const { directory, faults } = context
  const opened = Area.open(directory, id, faults)
  if (opened === "inUse") return null
  if (opened === "neverBegun") {
    owned(() => removeArea(`${directory}/${id}`, faults))
    return { id, outcome: "dropped", conflicts: [] }
  }
  using area = opened
  if (!area.has("journal")) {
    if (area.has("settled")) return null
    if (area.has("held")) return { id, outcome: "held", conflicts: area.conflicts("held") }
    owned(() => area.remove())
    return { id, outcome: "dropped", conflicts: [] }
  }
  if (area.has("back")) {
    if (area.has("undone")) return null
    const foreign = await takeBack(context, area, owned)
    const outcome = area.has("settled") ? "undone" : "takenBack"
    return { id, outcome, conflicts: foreign.map(path => ({ path, why: "changedByBoth" })) }
  }
  if (area.has("settled")) return null
  return finish(context, area, owned)
}

/** Finishes an interrupted merge: what another process changed since stays, and everything else is merged. */
async function finish(
  context: TransactionContext,
  area: Area,
  owned: WhileOwned,
): Promise<RecoveredTransaction> {
  assertSameWorkspace(context, area)
  const operations = area.journal()
  const { conflicts, failure } = await mergeForward(context, area, operations, owned, true)
  if (failure !== null) {
    area.mark("back", {})
    await takeBack(context, area, owned)
    throw failure
  }
  area.mark("settled", { conflicts })
  return { id: area.id, outcome: "merged", conflicts }
}

async function takeBack(
  context: TransactionContext,
  area: Area,
  owned: WhileOwned,
): Promise<readonly string[]> {
  assertSameWorkspace(context, area)
  const foreign = await mergeBackward(context, area, area.journal(), owned)
  area.mark("undone", { conflicts: foreign.map((path): Conflict => ({ path, why: "changedByBoth" })) })
  return foreign
}

/** Takes a merged transaction back. Throws ACODE-SEC-004 where its layers are gone. */
export async function undoArea(
  context: TransactionContext,
  id: string,
  owned: WhileOwned,
): Promise<UndoResult> {
  const opened = Area.open(context.directory, id, context.faults)
  if (typeof opened === "string") throw noLayers(id)
  using area = opened
  if (!area.has("journal")) return { restored: [], foreign: [] }
  if (!area.has("back")) area.mark("back", {})
  const foreign = await takeBack(context, area, owned)
  const left = new Set(foreign)
  const restored = area
    .journal()
    .map(({ path }) => path)
    .filter(path => !left.has(path))
  return { restored: [...new Set(restored)], foreign }
}

function noLayers(id: string): Failure {
  return new Failure({
    kind: "general",
    code: "ACODE-SEC-004",
    message: `the layers of ${id} are gone or in use`,
    where: id,
    hint: "restore the paths by hand; `acode session show` prints them",
  })
}

function assertSameWorkspace({ root }: TransactionContext, area: Area): void {
  if (area.isAbove(root)) return
  throw new Failure({
    kind: "general",
    code: "ACODE-FS-007",
    message: "the directory of the workspace was replaced since the command ran",
    where: area.id,
    hint: "move the former directory back to its place, then try again",
  })
}

/** Removes layers of finished transactions, the first candidates first. */
export function collectAreas(
  { directory, faults }: TransactionContext,
  candidates: readonly string[],
  bytesMax: number,
): CollectedLayers {
  const sizes = new Map(areaIds(directory).map(id => [id, bytesOf(directory, id)]))
  let bytes = [...sizes.values()].reduce((sum, size) => sum + size, 0)
  const removed: string[] = []
  const kept: { id: string; paths: readonly string[] }[] = []
  for (const id of candidates) {
    if (bytes <= bytesMax) break
    const opened = Area.open(directory, id, faults)
    if (typeof opened === "string") continue
    using area = opened
    if (!area.has("settled") && !area.has("undone") && !area.has("held")) continue
    const written = area.has("settled") && !area.has("back") && area.has("journal") ? writtenSince(area) : []
    if (written.length > 0) {
      kept.push({ id, paths: written })
      continue
    }
    area.remove()
    removed.push(id)
    bytes -= sizes.get(id) ?? 0
  }
  const freed = removed.reduce((sum, id) => sum + (sizes.get(id) ?? 0), 0)
  return { removed, kept, freedBytes: freed }
}

/** Returns the paths whose displaced entry was written since, by a program that has it open. */
function writtenSince(area: Area): readonly string[] {
  using upper = openPlace(area.at("upper"))
  using removed = openPlace(area.at("removed"))
  return area.journal().flatMap(step => (isAsDisplaced(step, upper, removed) ? [] : [step.path]))
}

function isAsDisplaced(step: Operation, upper: OpenDirectory, removed: OpenDirectory): boolean {
  if (step.kind === "create" || step.kind === "mode") return true
  if (step.kind === "remove") return isAsStamped(removed, String(step.slot), step.before)
  using parent = openBelow(upper, parentOf(step.path))
  if (parent === null) return true
  const stat = statAt(parent, nameOf(step.path))
  // A step that ended in a conflict has the command's own entry here.
  if (stat === null || String(stat.ino) === step.after.ino) return true
  return isAsStamped(parent, nameOf(step.path), step.before)
}

function isAsStamped(directory: OpenDirectory, name: string, stamp: EntryStamp): boolean {
  const stat = statAt(directory, name)
  if (stat === null) return true
  if (!isStamped(stat, stamp)) return false
  return stamp.inner === null || unpaced(surveyOf(directory, name, name))?.digest === stamp.inner
}

function bytesOf(directory: string, id: string): number {
  using parent = openPlace(directory)
  let blocks = 0n
  const add = (_: OpenDirectory, __: string, ___: string, stat: BigIntStats) => {
    blocks += stat.blocks
  }
  try {
    unpaced(surveyOf(parent, id, id, add, "opened"))
  } catch (error) {
    // Another process has just removed it.
    if (errnoOf(error) !== "ENOENT") throw error
  }
  return Number(blocks) * 512
}
