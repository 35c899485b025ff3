import { Database } from "bun:sqlite"
import { describe, expect, test } from "bun:test"
import { z } from "zod"
import type { Json } from "../../../src/base/canonical.ts"
import { noFaults } from "../../../src/base/faults.ts"
import { manifest } from "../../../src/domain/events/manifest.ts"
import { artifactsReferencedBy, isReferenced } from "../../../src/store/artifacts/references.ts"
import { openDatabase } from "../../../src/store/database/database.ts"
import { event } from "../support/session-events.ts"
import { codeOf, nextId, recordOf, startOf, storeFixture } from "../support/store-fixture.ts"

type Schema = { readonly [name: string]: Json }

const objectOf = (value: Json | undefined): Schema =>
  typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Schema) : {}

/** All schemas a value may have: of the choices, each. */
const choicesOf = (schema: Json | undefined): readonly Schema[] => {
  const { anyOf, oneOf } = objectOf(schema)
  const choices = [anyOf, oneOf].flatMap(list => (Array.isArray(list) ? list : []))
  return choices.length === 0 ? [objectOf(schema)] : choices.flatMap(choicesOf)
}

/** The paths at which an artifact may be named; a list is stood for by its first item. */
function placesIn(schema: Json | undefined, path: readonly string[] = []): readonly (readonly string[])[] {
  return choicesOf(schema).flatMap(choice => {
    const properties = objectOf(choice["properties"])
    if (objectOf(properties["kind"])["const"] === "artifact") return [path]
    const members = Object.entries(properties).flatMap(([name, member]) => placesIn(member, [...path, name]))
    return choice["items"] === undefined
      ? members
      : [...members, ...placesIn(choice["items"], [...path, "0"])]
  })
}

/** As little of an event as there can be, with something at that path. */
function filled(schema: Json | undefined, path: readonly string[], value: Json): Json {
  const [name, ...rest] = path
  if (name === undefined) return value
  const choice = choicesOf(schema).find(each => placesIn(each).length > 0) ?? {}
  if (name === "0") return [filled(choice["items"], rest, value)]
  return Object.fromEntries(
    Object.entries(objectOf(choice["properties"])).map(([member, of]) => [
      member,
      member === name ? filled(of, rest, value) : least(of),
    ]),
  )
}

function least(schema: Json | undefined): Json {
  const choices = choicesOf(schema)
  if (choices.some(({ type }) => type === "array")) return []
  const [only = {}, ...others] = choices
  if (others.length > 0 || only["properties"] === undefined) return null
  return Object.fromEntries(
    Object.entries(objectOf(only["properties"])).map(([name, member]) => [name, least(member)]),
  )
}

const bytes = (text: string) => new TextEncoder().encode(text)
const refOf = (letter: string) => `sha256:${letter.repeat(64)}`

describe("the artifacts an event names", () => {
  test("are found in every place that can name one, each once", () => {
    const stream = { originalBytes: 9, keptBytes: 1, sha256: refOf("9") }
    const data = {
      result: {
        stdout: { kind: "artifact", ref: refOf("a"), bytes: 1 },
        stderr: { kind: "artifact", ref: refOf("b"), bytes: 1 },
        artifacts: { stdout: refOf("c"), stderr: refOf("d") },
        truncation: {
          stdout: { ...stream, artifact: refOf("c") },
          stderr: { ...stream, artifact: refOf("e") },
        },
      },
    }
    expect(artifactsReferencedBy({ type: "command.finished", data })).toEqual(
      ["a", "b", "c", "d", "e"].map(refOf),
    )
  })

  test("are found in the events of sessions, calls and questions", () => {
    const named = (letter: string) => ({ kind: "artifact", ref: refOf(letter), bytes: 1 }) as const
    const events = [
      event.sessionStarted({ plan: named("a") }),
      event.callRequested("cal_1", { arguments: named("b") }),
      event.callSettled("cal_1", { result: named("d"), changes: { ...named("c"), count: 2 } }),
      event.approvalRequested("apr_1", "ses_1", { preview: named("e") }),
    ]
    const found = events.map(({ type, data }) => artifactsReferencedBy({ type, data: data as Json }))
    expect(found).toEqual([["a"], ["b"], ["c", "d"], ["e"]].map(letters => letters.map(refOf)))
  })

  test("are found wherever the definition of an event has a place for one", () => {
    const named = { kind: "artifact", ref: refOf("a"), bytes: 1 }
    const found = manifest.definitions.flatMap(({ type, data }) => {
      // as: a JSON schema is JSON.
      const schema = z.toJSONSchema(data, { reused: "inline" }) as Json
      return placesIn(schema).map(path => ({ type, path, data: filled(schema, path, named) }))
    })
    expect(found.map(({ type, path }) => `${type} ${path.join(".")}`)).toContain(
      "turn.finished calls.0.arguments",
    )
    for (const { type, path, data } of found)
      expect({ type, path, refs: artifactsReferencedBy({ type, data }) }).toEqual({
        type,
        path,
        refs: [refOf("a")],
      })
  })

  test("are none where a value stands in the event, whatever it looks like", () => {
    const value = { kind: "artifact", ref: refOf("a"), bytes: 1 }
    const { type, data } = event.callRequested("cal_1", { arguments: { kind: "inline", value } })
    expect(artifactsReferencedBy({ type, data: data as Json })).toEqual([])
  })

  test("are none for short outputs and for events of other types", () => {
    const nothing = {
      result: {
        stdout: { kind: "inline", text: refOf("a") },
        stderr: { kind: "omitted" },
        artifacts: { stdout: null, stderr: null },
        truncation: null,
      },
    }
    expect(artifactsReferencedBy({ type: "command.finished", data: nothing })).toEqual([])
    expect(artifactsReferencedBy({ type: "command.started", data: {} })).toEqual([])
  })
})

describe("the table of references", () => {
  test("knows which event names which artifact", () => {
    using fixture = storeFixture()
    const store = fixture.open()
    const id = nextId()
    const ref = store.artifacts.put(bytes("out"))
    store.executions.started(startOf(id))
    store.executions.settled(recordOf(id, { result: { artifacts: { stdout: ref, stderr: null } } }), {
      stdout: bytes("out"),
      stderr: null,
    })
    using db = new Database(fixture.options.databasePath)
    expect(db.query("SELECT * FROM artifact_references").all()).toEqual([{ ref, position: 2 }])
    using connection = openDatabase({
      path: fixture.options.databasePath,
      readOnly: true,
      busyTimeoutMs: 100,
      faults: noFaults,
    })
    expect([ref, refOf("0")].map(name => isReferenced(connection, name))).toEqual([true, false])
  })

  test("refuses an event that names what is not stored", () => {
    using fixture = storeFixture()
    const store = fixture.open()
    const id = nextId()
    store.executions.started(startOf(id))
    const { result } = recordOf(id)
    const finish = () =>
      store.executions.finished({
        executionId: id,
        result: {
          ...result,
          stdout: { kind: "artifact", ref: refOf("a"), bytes: 1 },
          stderr: { kind: "omitted" },
        },
      })
    expect(codeOf(finish)).toBe("ACODE-DB-007")
    expect(store.log.read(id)).toHaveLength(1)
  })
})
