import {
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  openSync,
  readdirSync,
  readFileSync,
  realpathSync,
} from "node:fs"
import { basename, join } from "node:path"
import { errnoOf } from "../base/assert.ts"
import type { Json } from "../base/canonical.ts"
import { shownPath } from "../base/path-names.ts"
import { flatFields, splitFrontMatter } from "../domain/skill/front-matter.ts"
import {
  readSkillMeta,
  type SkillContent,
  type SkillMeta,
  type SkillMetaReading,
  type SkillReference,
} from "../domain/skill/skill-text.ts"

/** A folder that may hold skills, one folder each. */
export interface SkillPlace {
  /** Absolute. */
  readonly directory: string
  /** The folder as messages show it. */
  readonly shown: string
  /** A directory that its skills may not lie outside of, symlinks resolved; null where that makes no difference. */
  readonly within: string | null
}

/** A skill by the name of its folder. */
export interface FoundSkill {
  readonly name: string
  readonly directory: string
  readonly place: SkillPlace
}

/** Decodes the YAML of a front matter; what is wrong with it is a text. */
export type DecodeYaml = (text: string) => { readonly value: Json } | { readonly problem: string }

/** Says what is wrong with a skill. */
export class SkillProblem extends Error {}

const MiB = 1024 * 1024
const fileBytesMax = MiB
const referencesMax = 50
const skillBytesMax = 4 * MiB
const listedMax = 10_000

/** Returns the skills of all places by name; those whose name an earlier place has already are apart. */
export function findSkills(places: readonly SkillPlace[]): {
  readonly skills: readonly FoundSkill[]
  readonly hidden: readonly FoundSkill[]
} {
  const found = new Map<string, FoundSkill>()
  const hidden: FoundSkill[] = []
  for (const place of places)
    for (const name of namesIn(place.directory)) {
      const skill = { name, directory: join(place.directory, name), place }
      if (!hasSkillFile(skill)) continue
      if (found.has(name)) hidden.push(skill)
      else found.set(name, skill)
    }
  return { skills: [...found.values()].toSorted((one, other) => (one.name < other.name ? -1 : 1)), hidden }
}

/** Returns the skill of a name; null where no place has one. */
export function findSkill(places: readonly SkillPlace[], name: string): FoundSkill | null {
  if (!/^[\w-][\w.-]*$/.test(name)) return null
  const skills = places.map(place => ({ name, directory: join(place.directory, name), place }))
  return skills.find(hasSkillFile) ?? null
}

function namesIn(directory: string): readonly string[] {
  try {
    return readdirSync(directory).slice(0, listedMax).sort()
  } catch (error) {
    // Most places do not exist, and one that may not be read holds nothing for us.
    if (errnoOf(error) === null) throw error
    return []
  }
}

function hasSkillFile({ directory }: FoundSkill): boolean {
  try {
    return lstatSync(join(directory, "SKILL.md")) !== undefined
  } catch (error) {
    if (errnoOf(error) === null) throw error
    return false
  }
}

/** Reads what a skill says about itself. Throws SkillProblem. */
export function readSkill(
  skill: FoundSkill,
  decode: DecodeYaml,
): SkillMeta & { readonly warnings: readonly string[] } {
  const { reading } = readSkillFile(skill, realFolder(skill), decode)
  return { ...reading.meta, warnings: reading.warnings }
}

/** Reads a skill and its references; leaves out those that cannot be read, with the reason. Throws SkillProblem. */
export function loadSkill(skill: FoundSkill, decode: DecodeYaml): SkillContent {
  const folder = realFolder(skill)
  const { reading, body, bytes } = readSkillFile(skill, folder, decode)
  const leftOut: string[] = []
  const referenceContents: SkillReference[] = []
  let bytesLeft = skillBytesMax - bytes
  const names = namesIn(join(folder, "references")).filter(name => name.endsWith(".md"))
  if (names.length > referencesMax)
    leftOut.push(`only the first ${referencesMax} of ${names.length} references are used`)
  for (const name of names.slice(0, referencesMax)) {
    const path = `references/${name}`
    try {
      const content = readInside(folder, path, Math.min(fileBytesMax, bytesLeft))
      bytesLeft -= Buffer.byteLength(content)
      referenceContents.push({ path, content })
    } catch (error) {
      if (!(error instanceof SkillProblem)) throw error
      leftOut.push(`left out: ${error.message}`)
    }
  }
  const { meta, warnings } = reading
  return { ...meta, directory: skill.directory, body, referenceContents, warnings, leftOut }
}

function readSkillFile(
  skill: FoundSkill,
  folder: string,
  decode: DecodeYaml,
): { readonly reading: SkillMetaReading; readonly body: string; readonly bytes: number } {
  const text = readInside(folder, "SKILL.md", fileBytesMax)
  const split = splitFrontMatter(text)
  if (!("lines" in split)) throw new SkillProblem(`SKILL.md, line ${split.line}: ${split.message}`)
  const yaml = split.lines.map(line => line.text).join("\n")
  const decoded = decode(yaml)
  const reading = readSkillMeta(
    "value" in decoded ? decoded.value : flatValue(split),
    basename(skill.directory),
  )
  if (reading.problems.length > 0) {
    const why = "value" in decoded ? reading.problems : [...reading.problems, decoded.problem]
    throw new SkillProblem(`SKILL.md: ${why.join("; ")}`)
  }
  const warnings =
    "value" in decoded
      ? reading.warnings
      : [...reading.warnings, `its front matter is not YAML (${decoded.problem}); it was read line by line`]
  return { reading: { ...reading, warnings }, body: split.body, bytes: Buffer.byteLength(text) }
}

/** Reads front matter that is not YAML, such as a description with a colon in it, line by line. */
function flatValue(split: Parameters<typeof flatFields>[0]): Json {
  const { fields } = flatFields(split, new Set())
  return Object.fromEntries([...fields].map(([key, { line, from }]) => [key, line.text.slice(from).trim()]))
}

function realFolder({ directory, place }: FoundSkill): string {
  const folder = realPath(directory, "its folder")
  if (place.within !== null && !isInside(folder, realPath(place.within, "the workspace")))
    throw new SkillProblem("its folder is a symlink that leads out of the workspace")
  return folder
}

function realPath(path: string, what: string): string {
  try {
    return realpathSync(path)
  } catch (error) {
    throw new SkillProblem(`${what} cannot be read (${errnoOf(error) ?? "unknown"})`)
  }
}

function isInside(path: string, directory: string): boolean {
  return path === directory || path.startsWith(directory === "/" ? "/" : `${directory}/`)
}

/** Reads a text file of the folder, never one that a symlink brings in from elsewhere. */
function readInside(folder: string, file: string, bytesMax: number): string {
  const name = shownPath(file)
  const path = realPath(join(folder, file), name)
  if (!isInside(path, folder)) throw new SkillProblem(`${name} is a symlink that leads out of its folder`)
  let descriptor: number
  try {
    descriptor = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
  } catch (error) {
    throw new SkillProblem(`${name} cannot be read (${errnoOf(error) ?? "unknown"})`)
  }
  try {
    const stats = fstatSync(descriptor)
    if (!stats.isFile()) throw new SkillProblem(`${name} is not a file`)
    if (stats.size > bytesMax) throw new SkillProblem(`${name} is larger than ${bytesMax} bytes`)
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(readFileSync(descriptor))
  } catch (error) {
    if (error instanceof TypeError) throw new SkillProblem(`${name} is not UTF-8 text`)
    throw error
  } finally {
    closeSync(descriptor)
  }
}
