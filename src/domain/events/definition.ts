import * as z from "zod/mini"
import { assert } from "../../base/assert.ts"
import { lazily } from "../../base/lazy.ts"

// A command line is too short-lived for compiled validators: compiling one costs more than a thousand parses.
z.config({ jitless: true })

/** A kind of event, declared once: its name, its version, and the shape of its data. */
export interface EventDefinition<Type extends string = string, Schema extends z.ZodMiniType = z.ZodMiniType> {
  readonly type: Type
  readonly version: number
  /** One sentence for docs/events.md. */
  readonly summary: string
  /** Built on its first use: writing a valid event needs only its type. */
  readonly data: Schema
}

export function defineEvent<Type extends string, Schema extends z.ZodMiniType>(
  type: Type,
  version: number,
  summary: string,
  data: () => Schema,
): EventDefinition<Type, Schema> {
  assert(/^[a-z_]+\.[a-z_]+$/.test(type), `event type "${type}" is noun.verb in snake case`)
  const built = lazily(data)
  return {
    type,
    version,
    summary,
    get data() {
      return built()
    },
  }
}

/** An event as a caller passes it to the log; the log adds stream, seq, position, time and hashes. */
export type NewEvent<Definition extends EventDefinition = EventDefinition> = {
  readonly type: Definition["type"]
  readonly version: number
  readonly data: z.infer<Definition["data"]>
}

/** Returns a new event of this definition. The compiler checks its shape; the log checks what redaction changed. */
export function newEvent<Definition extends EventDefinition>(
  definition: Definition,
  data: z.infer<Definition["data"]>,
): NewEvent<Definition> {
  return { type: definition.type, version: definition.version, data }
}

/** All event types of the product. Unknown types and types declared twice are errors. */
export class EventManifest {
  private readonly byName = new Map<string, EventDefinition>()

  constructor(readonly definitions: readonly EventDefinition[]) {
    for (const definition of definitions) {
      const name = `${definition.type}@${definition.version}`
      assert(!this.byName.has(name), `event ${name} is declared once`)
      this.byName.set(name, definition)
    }
  }

  find(type: string, version: number): EventDefinition | null {
    return this.byName.get(`${type}@${version}`) ?? null
  }
}

/** Returns the data of a stored event if it is of this kind. */
export function dataOf<Definition extends EventDefinition>(
  definition: Definition,
  event: { readonly type: string; readonly version: number; readonly data: unknown },
): z.infer<Definition["data"]> | null {
  if (event.type !== definition.type || event.version !== definition.version) return null
  // as: this definition wrote the data, and the chain proves that it is unchanged.
  return event.data as z.infer<Definition["data"]>
}

/** Adds a description to a schema, for the JSON Schema that people read. */
export function described<Schema extends z.ZodMiniType>(schema: Schema, description: string): Schema {
  return schema.check(z.describe(description))
}
