import * as z from "zod/mini"
import { assert } from "../../base/assert.ts"
import { lazily } from "../../base/lazy.ts"

// A command line lives too short for compiled validators to pay: compiling one costs more than a thousand parses.
z.config({ jitless: true })

/** One kind of fact, declared once: its name, its version, and the shape of its data. */
export interface EventDefinition<Type extends string = string, Schema extends z.ZodMiniType = z.ZodMiniType> {
  readonly type: Type
  readonly version: number
  /** One sentence for the generated event page. */
  readonly summary: string
  /** Built when it is first asked for: writing an event that is right needs only its type. */
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

/** An event as a caller hands it to the log; the log adds stream, seq, position, time and hashes. */
export type NewEvent<Definition extends EventDefinition = EventDefinition> = {
  readonly type: Definition["type"]
  readonly version: number
  readonly data: z.infer<Definition["data"]>
}

/** An event of this definition. Its shape is the compiler's business; the log checks what redaction changes. */
export function newEvent<Definition extends EventDefinition>(
  definition: Definition,
  data: z.infer<Definition["data"]>,
): NewEvent<Definition> {
  return { type: definition.type, version: definition.version, data }
}

/** All event types of the product. Unknown and doubly declared types are errors. */
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

/** The data of an event that was read back, when it is one of this kind. */
export function dataOf<Definition extends EventDefinition>(
  definition: Definition,
  event: { readonly type: string; readonly version: number; readonly data: unknown },
): z.infer<Definition["data"]> | null {
  if (event.type !== definition.type || event.version !== definition.version) return null
  // Written by this very definition, and the chain says that nobody has changed it since.
  return event.data as z.infer<Definition["data"]>
}

/** For the JSON Schema that people read. */
export function described<Schema extends z.ZodMiniType>(schema: Schema, description: string): Schema {
  return schema.check(z.describe(description))
}
