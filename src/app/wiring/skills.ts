import { realpathSync } from "node:fs"
import { join, relative } from "node:path"
import { lazily } from "../../base/lazy.ts"
import { nearest, oneLine } from "../../base/text.ts"
import type { AppEnvironment } from "../../config/environment.ts"
import type { Config } from "../../config/schema.ts"
import { readYaml } from "../../config/yaml.ts"
import { Failure } from "../../domain/failure.ts"
import type { SkillContent, SkillMeta } from "../../domain/skill/skill-text.ts"
import {
  type DecodeYaml,
  type FoundSkill,
  findSkill,
  findSkills,
  loadSkill,
  readSkill,
  type SkillPlace,
  SkillProblem,
} from "../../skills/find-skills.ts"
import type { SkillReader } from "../../tools/contract.ts"
import type { Wiring } from "./wire.ts"

export interface ListedSkill {
  readonly name: string
  /** The front matter; null when the skill cannot be used. */
  readonly meta: SkillMeta | null
  readonly directory: string
  readonly place: string
  /** The reason why the skill cannot be used; null when it can. */
  readonly problem: string | null
  readonly warnings: readonly string[]
  /** True when another skill of the same name is found first. */
  readonly isHidden: boolean
}

/** Returns where the skills of this workspace and this user are. */
export async function skillPlacesOf(wiring: Wiring): Promise<readonly SkillPlace[]> {
  return skillPlaces(wiring.root.path, wiring.request.environment, (await wiring.config()).values)
}

/** Returns the folders that are searched for skills; the first one that has a skill of the name wins. */
export function skillPlaces(
  root: string,
  { home, xdgConfigHome }: Pick<AppEnvironment, "home" | "xdgConfigHome">,
  { skills }: Pick<Config, "skills">,
): readonly SkillPlace[] {
  const within = realpathSync(root)
  const own = (directory: string, shown: string): SkillPlace => ({ directory, shown, within: null })
  return [
    ...skills.directories.map(path => own(path.startsWith("~/") ? join(home, path.slice(2)) : path, path)),
    { directory: join(root, ".agents/skills"), shown: ".agents/skills", within },
    { directory: join(root, ".claude/skills"), shown: ".claude/skills", within },
    own(join(xdgConfigHome, "acode/skills"), join(xdgConfigHome, "acode/skills")),
    own(join(home, ".agents/skills"), "~/.agents/skills"),
    own(join(home, ".claude/skills"), "~/.claude/skills"),
  ]
}

/** Returns a skill with its references. Throws a Failure (ACODE-SKILL-001). */
export function skillNamed(
  places: readonly SkillPlace[],
  name: string,
): SkillContent & { readonly place: string } {
  const skill = findSkill(places, name)
  if (skill === null) throw unknownSkill(name, places)
  try {
    return { ...loadSkill(skill, decodeYaml), place: skill.place.shown }
  } catch (error) {
    if (error instanceof SkillProblem) throw unusableSkill(skill, error)
    throw error
  }
}

/** Returns a function that lists the skills a model can be offered; it reads their files once. */
export async function usableSkills(wiring: Wiring): Promise<() => readonly SkillMeta[]> {
  const places = await skillPlacesOf(wiring)
  return lazily(() =>
    findSkills(places).skills.flatMap(skill => {
      const { meta } = listedSkill(skill, false)
      return meta === null ? [] : [{ ...meta, name: skill.name }]
    }),
  )
}

/** Returns a function that loads a skill for a model. */
export async function skillReader(wiring: Wiring): Promise<SkillReader> {
  const places = await skillPlacesOf(wiring)
  const root = wiring.root.path
  return {
    workspaceFileOf: (name, reference) => {
      const directory = findSkill(places, name)?.directory
      const path = directory === undefined ? ".." : relative(root, join(directory, reference ?? "SKILL.md"))
      return path === ".." || path.startsWith("../") ? null : path
    },
    read: (name, reference) => {
      const { body, referenceContents } = skillNamed(places, name)
      const references = referenceContents.map(({ path }) => path)
      if (reference === null) return { text: body, references }
      const found = referenceContents.find(({ path }) => path === reference)
      if (found === undefined) throw unknownReference(name, reference, references)
      return { text: found.content, references }
    },
  }
}

/** Decodes the front matter of a skill with the reader of configuration files, which limits time and memory. */
export const decodeYaml: DecodeYaml = text => {
  const read = readYaml(text)
  if ("tree" in read) return { value: read.tree.value }
  const [first] = read.problems
  return { problem: first === undefined ? "it cannot be read" : `line ${first.line + 1}: ${first.message}` }
}

export function listedSkill(skill: FoundSkill, isHidden: boolean): ListedSkill {
  const found = { name: skill.name, directory: skill.directory, place: skill.place.shown, isHidden }
  try {
    const { warnings, ...meta } = readSkill(skill, decodeYaml)
    return { ...found, meta, problem: null, warnings }
  } catch (error) {
    if (!(error instanceof SkillProblem)) throw error
    return { ...found, meta: null, problem: error.message, warnings: [] }
  }
}

function unknownSkill(name: string, places: readonly SkillPlace[]): Failure {
  const meant = nearest(
    name,
    findSkills(places).skills.map(skill => skill.name),
  )
  return new Failure({
    kind: "usage",
    code: "ACODE-SKILL-001",
    message: `no such skill: ${oneLine(JSON.stringify(name), 80)}`,
    where: places.map(({ shown }) => shown).join(", "),
    hint: meant === null ? "`acode skills list` shows all" : `did you mean ${meant}?`,
  })
}

function unknownReference(name: string, reference: string, references: readonly string[]): Failure {
  const known = references.length === 0 ? "it has none" : `it has ${references.slice(0, 20).join(", ")}`
  return new Failure({
    kind: "usage",
    code: "ACODE-SKILL-001",
    message: `the skill ${oneLine(name, 80)} has no reference ${oneLine(JSON.stringify(reference), 120)}`,
    where: oneLine(name, 80),
    hint: known,
  })
}

function unusableSkill({ name, directory }: FoundSkill, { message }: SkillProblem): Failure {
  return new Failure({
    kind: "general",
    code: "ACODE-SKILL-001",
    message: `the skill ${oneLine(name, 80)} cannot be used: ${message}`,
    where: join(directory, "SKILL.md"),
    hint: "correct the file; it begins with front matter that has at least `name` and `description`",
  })
}
