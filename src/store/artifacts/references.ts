import type { z } from "zod"
import type { Json } from "../../base/canonical.ts"
import { ApprovalRequested, ToolCallRequested, ToolCallSettled } from "../../domain/events/call-events.ts"
import { CommandFinished } from "../../domain/events/command-events.ts"
import type { EventDefinition } from "../../domain/events/definition.ts"
import { PlanProposed } from "../../domain/events/pipeline-events.ts"
import { SessionStarted, SessionUndone } from "../../domain/events/session-events.ts"
import { TaskReplied } from "../../domain/events/skill-events.ts"
import { TurnFinished } from "../../domain/events/turn-events.ts"
import type { StoredEvent } from "../contract.ts"
import type { DatabaseConnection } from "../database/database.ts"
import { appendConflict } from "../database/store-failures.ts"
import type { Projector } from "../database/table-projection.ts"

/** Returns the artifacts that an event refers to, each once. */
export function artifactsReferencedBy({ type, data }: Pick<StoredEvent, "type" | "data">): readonly string[] {
  const refs =
    refFinders
      .get(type)?.(data)
      .filter(ref => typeof ref === "string") ?? []
  return refs.length < 2 ? refs : [...new Set(refs)].sort()
}

type Ref = string | null | undefined

/**
 * Finds the references in every type of event that can hold any: artifacts of a missing type are lost with the next
 * prune.
 */
const refFinders: ReadonlyMap<string, (data: Json) => readonly Ref[]> = new Map([
  refFinder(CommandFinished, ({ result }) => [
    refIn(result?.stdout),
    refIn(result?.stderr),
    result?.artifacts.stdout,
    result?.artifacts.stderr,
    result?.truncation?.stdout?.artifact,
    result?.truncation?.stderr?.artifact,
  ]),
  refFinder(SessionStarted, ({ plan }) => [refIn(plan)]),
  refFinder(PlanProposed, ({ plan }) => [refIn(plan)]),
  refFinder(TurnFinished, ({ text, calls, output }) => [
    refIn(text),
    refIn(output),
    ...calls.map(call => refIn(call.arguments)),
  ]),
  refFinder(ToolCallRequested, ({ arguments: args }) => [refIn(args)]),
  refFinder(ToolCallSettled, ({ result, text, changes, left, directories }) => [
    refIn(result),
    refIn(text),
    refIn(changes),
    refIn(left),
    refIn(directories),
  ]),
  refFinder(SessionUndone, ({ left }) => [refIn(left)]),
  refFinder(ApprovalRequested, ({ preview }) => [refIn(preview)]),
  refFinder(TaskReplied, ({ text }) => [refIn(text)]),
])

function refFinder<Definition extends EventDefinition>(
  { type }: Definition,
  find: (data: z.infer<Definition["data"]>) => readonly Ref[],
): [type: string, find: (data: Json) => readonly Ref[]] {
  // as: the type of an event determines the shape of its data.
  return [type, data => find(data as z.infer<Definition["data"]>)]
}

type Recorded = { readonly kind: "artifact"; readonly ref: string } | { readonly kind: "inline" | "omitted" }

function refIn(recorded: Recorded | null | undefined): string | null {
  return recorded?.kind === "artifact" ? recorded.ref : null
}

/**
 * Projects which event refers to which artifact. Refuses an append that refers to a missing one: its writer found it
 * stored, and a prune removed it before the reference was written.
 */
export function artifactReferences(
  connection: DatabaseConnection,
  isStored: (ref: string) => boolean,
): Projector {
  return {
    apply: event => {
      for (const ref of artifactsReferencedBy(event)) {
        if (!isStored(ref)) throw appendConflict(event.stream, `it refers to ${ref}, which is not stored`)
        connection.db
          .query("INSERT INTO artifact_references (ref, position) VALUES (?, ?)")
          .run(ref, event.position)
      }
    },
  }
}

export function isReferenced(connection: DatabaseConnection, ref: string): boolean {
  return connection.db.query("SELECT 1 FROM artifact_references WHERE ref = ? LIMIT 1").get(ref) !== null
}
