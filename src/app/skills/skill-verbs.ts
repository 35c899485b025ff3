import type { SkillContent } from "../../domain/skill/skill-text.ts"
import { findSkills } from "../../skills/find-skills.ts"
import { type ListedSkill, listedSkill, skillNamed, skillPlacesOf } from "../wiring/skills.ts"
import type { Wiring } from "../wiring/wire.ts"

/** Skills: instructions for one kind of work. */
export interface SkillVerbs {
  listSkills(): Promise<readonly ListedSkill[]>
  /** Throws ACODE-SKILL-001. */
  showSkill(name: string): Promise<SkillContent & { readonly place: string }>
}

export function skillVerbs(wiring: Wiring): SkillVerbs {
  return {
    listSkills: async () => {
      const { skills, hidden } = findSkills(await skillPlacesOf(wiring))
      return [
        ...skills.map(skill => listedSkill(skill, false)),
        ...hidden.map(skill => listedSkill(skill, true)),
      ]
    },
    showSkill: async name => skillNamed(await skillPlacesOf(wiring), name),
  }
}
