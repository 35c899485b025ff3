import type { Json } from "../../base/canonical.ts"

/** Front matter of a SKILL.md. */
export interface SkillMeta {
  readonly name: string
  readonly description: string
  readonly license: string | null
  readonly compatibility: string | null
  /** Metadata such as `version` and `squad`; values as text. */
  readonly metadata: Readonly<Record<string, string>>
  /** Text as written. It is shown, and grants nothing. */
  readonly allowedTools: string | null
}

export interface SkillReference {
  /** `references/NAME.md`, relative to the folder of the skill. */
  readonly path: string
  readonly content: string
}

/** A skill with everything that a prompt needs of it. */
export interface SkillContent extends SkillMeta {
  /** The folder of the skill. */
  readonly directory: string
  /** Everything behind the front matter, byte for byte. */
  readonly body: string
  /** Ordered by name. */
  readonly referenceContents: readonly SkillReference[]
  /** Oddities that do not keep the skill from being used. */
  readonly warnings: readonly string[]
  /** The reasons why references are not part of the prompt. */
  readonly leftOut: readonly string[]
}

export interface SkillMetaReading {
  readonly meta: SkillMeta
  readonly problems: readonly string[]
  readonly warnings: readonly string[]
}

const nameMax = 64
const descriptionMax = 1024

/** Reads the decoded front matter of a skill that lies in the folder of the name. */
export function readSkillMeta(fields: Json, folder: string): SkillMetaReading {
  const map = mapOf(fields)
  const problems: string[] = []
  const warnings: string[] = []
  const name = textOf(map["name"]) ?? ""
  const description = textOf(map["description"])?.trim() ?? ""
  if (name === "") problems.push("name is missing")
  else if (!/^[a-z0-9-]+$/.test(name) || name.length > nameMax)
    warnings.push(`name has other characters than a-z, 0-9 and -, or more than ${nameMax}`)
  if (name !== "" && name !== folder) warnings.push(`name is not the name of its folder, ${folder}`)
  if (description === "") problems.push("description is missing")
  else if (description.length > descriptionMax)
    warnings.push(`description has more than ${descriptionMax} characters`)
  const metadata = textsIn(map["metadata"])
  const { squad } = metadata
  if (squad !== undefined && !isSquadName(squad))
    warnings.push("metadata.squad is not a name that can be a folder, and is ignored")
  const meta: SkillMeta = {
    name,
    description,
    license: textOf(map["license"]),
    compatibility: textOf(map["compatibility"]),
    metadata,
    allowedTools: textOf(map["allowed-tools"]) ?? listText(map["allowed-tools"]),
  }
  return { meta, problems, warnings }
}

/** Returns whether a text can name a squad, which is also a folder of outputs. */
export function isSquadName(text: string): boolean {
  return /^[A-Za-z0-9][\w-]{0,63}$/.test(text)
}

function textsIn(value: Json | undefined): Readonly<Record<string, string>> {
  const texts = Object.entries(mapOf(value)).map(([key, each]) => [key, textOf(each)] as const)
  return Object.fromEntries(texts.flatMap(([key, text]) => (text === null ? [] : [[key, text]])))
}

function mapOf(value: Json | undefined): Readonly<Record<string, Json>> {
  return typeof value === "object" && value !== null && !isList(value) ? value : {}
}

/** `Array.isArray` forgets that a list may be read-only. */
function isList(value: Json | undefined): value is readonly Json[] {
  return Array.isArray(value)
}

function textOf(value: Json | undefined): string | null {
  if (typeof value === "string") return value
  return typeof value === "number" || typeof value === "boolean" ? String(value) : null
}

function listText(value: Json | undefined): string | null {
  return isList(value) ? value.flatMap(item => textOf(item) ?? []).join(" ") : null
}
