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

/** The artifacts an event names, each once. */
export function artifactsNamedBy({ type, data }: Pick<StoredEvent, "type" | "data">): readonly string[] {
  const named =
    places
      .get(type)?.(data)
      .filter(ref => typeof ref === "string") ?? []
  return named.length < 2 ? named : [...new Set(named)].sort()
}

type Ref = string | null | undefined

/** Every type of event that can name artifacts, and where: what is missing here is lost with the next prune. */
const places: ReadonlyMap<string, (data: Json) => readonly Ref[]> = new Map([
  place(CommandFinished, ({ result }) => [
    refIn(result?.stdout),
    refIn(result?.stderr),
    result?.artifacts.stdout,
    result?.artifacts.stderr,
    result?.truncation?.stdout?.artifact,
    result?.truncation?.stderr?.artifact,
  ]),
  place(SessionStarted, ({ plan }) => [refIn(plan)]),
  place(PlanProposed, ({ plan }) => [refIn(plan)]),
  place(TurnFinished, ({ text, calls, output }) => [
    refIn(text),
    refIn(output),
    ...calls.map(call => refIn(call.arguments)),
  ]),
  place(ToolCallRequested, ({ arguments: args }) => [refIn(args)]),
  place(ToolCallSettled, ({ result, text, changes, left, directories }) => [
    refIn(result),
    refIn(text),
    refIn(changes),
    refIn(left),
    refIn(directories),
  ]),
  place(SessionUndone, ({ left }) => [refIn(left)]),
  place(ApprovalRequested, ({ preview }) => [refIn(preview)]),
  place(TaskReplied, ({ text }) => [refIn(text)]),
])

function place<Definition extends EventDefinition>(
  { type }: Definition,
  find: (data: z.infer<Definition["data"]>) => readonly Ref[],
): [type: string, find: (data: Json) => readonly Ref[]] {
  // as: the type of an event decides the shape of its data.
  return [type, data => find(data as z.infer<Definition["data"]>)]
}

type Recorded = { readonly kind: "artifact"; readonly ref: string } | { readonly kind: "inline" | "omitted" }

function refIn(recorded: Recorded | null | undefined): string | null {
  return recorded?.kind === "artifact" ? recorded.ref : null
}

/**
 * Projection: which event names which artifact. An append that names one that is not there is refused: its writer
 * found it stored, and a prune took it away before the name was written.
 */
export function artifactReferences(
  connection: DatabaseConnection,
  isStored: (ref: string) => boolean,
): Projector {
  return {
    apply: event => {
      for (const ref of artifactsNamedBy(event)) {
        if (!isStored(ref)) throw appendConflict(event.stream, `it names ${ref}, which is not stored`)
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
