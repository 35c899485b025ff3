/** One field of a schema: where it stands, what it may hold, what it means. */
export interface FieldRow {
  readonly path: string
  readonly type: string
  readonly description: string
}

/** The part of JSON Schema that zod writes and the pages show. */
interface Schema {
  readonly type?: string | readonly string[]
  readonly description?: string
  readonly const?: unknown
  readonly enum?: readonly unknown[]
  readonly anyOf?: readonly Schema[]
  readonly oneOf?: readonly Schema[]
  readonly items?: Schema
  readonly properties?: Readonly<Record<string, Schema>>
  readonly additionalProperties?: Schema | boolean
  readonly pattern?: string
  readonly format?: string
}

/** Flattens a schema into rows: members of objects and of the elements of lists get rows of their own. */
export function fieldRows(schema: object, prefix = ""): FieldRow[] {
  const members = Object.entries((schema as Schema).properties ?? {})
  return members.flatMap(([name, member]) => {
    const path = `${prefix}${name}`
    const row = { path, type: typeOf(member), description: member.description ?? "" }
    return [row, ...innerRows(member, path)]
  })
}

function innerRows(schema: Schema, path: string): FieldRow[] {
  const variants = schema.anyOf ?? schema.oneOf
  // Variants that a `kind` distinguishes are one line: the rows of all of them together would fit none.
  if (variants !== undefined) {
    const objects = variants.filter(variant => variant.properties !== undefined)
    return objects.length === 1 && objects[0] !== undefined ? innerRows(objects[0], path) : []
  }
  if (schema.items !== undefined) return innerRows(schema.items, `${path}[]`)
  return fieldRows(schema, `${path}.`)
}

function typeOf(schema: Schema): string {
  if (schema.const !== undefined) return JSON.stringify(schema.const)
  if (schema.enum !== undefined) return schema.enum.join(", ")
  const variants = schema.anyOf ?? schema.oneOf
  if (variants !== undefined) return variants.map(variantOf).join(" or ")
  if (schema.type === "array")
    return `list of ${schema.items === undefined ? "anything" : typeOf(schema.items)}`
  if (schema.type === "object" && typeof schema.additionalProperties === "object")
    return `map to ${typeOf(schema.additionalProperties)}`
  if (typeof schema.type === "object") return schema.type.join(" or ")
  return schema.format ?? schema.type ?? "anything"
}

/** Names an object of a union by the property that distinguishes it. */
function variantOf(schema: Schema): string {
  const members = Object.entries(schema.properties ?? {})
  if (members.length < 1 || members.every(([, member]) => member.const === undefined)) return typeOf(schema)
  return `{ ${members.map(([name, member]) => `${name}: ${typeOf(member)}`).join(", ")} }`
}
