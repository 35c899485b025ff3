import type { ListedSkill } from "../../../app/wiring/skills.ts"
import { shownPath } from "../../../base/path-names.ts"
import { oneLine, printable } from "../../../base/text.ts"
import { defineCommand } from "../../definition.ts"

export const skillsList = defineCommand({
  name: "skills list",
  summary: "list the skills that were found, and where",
  description:
    "A skill is a folder with a SKILL.md. It is looked for in skills.directories, .agents/skills and .claude/skills of\n" +
    "the workspace, acode/skills in the configuration directory, ~/.agents/skills and ~/.claude/skills; of two with\n" +
    "one name the first one counts.",
  arguments: [],
  flags: {},
  examples: [
    { line: "acode skills list", note: "what each is for, and what is wrong with those that cannot be used" },
    { line: "acode skills list --json", note: "for a script" },
  ],
  run: async (_, { service, output, globals }) => {
    const skills = await (await service()).listSkills()
    if (globals.json) output.json(skills)
    const width = Math.min(40, Math.max(0, ...skills.map(({ name }) => name.length)))
    for (const skill of skills) for (const line of listedLines(skill, width)) output.line(line)
    if (skills.length === 0)
      output.notice("no skills; `acode skills list --help` says where they are looked for")
    return 0
  },
})

function listedLines(skill: ListedSkill, width: number): readonly string[] {
  const { name, meta, place, problem, warnings, isHidden } = skill
  const head = `${problem === null ? " " : "✗"} ${oneLine(name, 60).padEnd(width)}  ${oneLine(place, 60)}`
  if (isHidden) return [`${head}  (another one of the name comes first)`]
  if (problem !== null) return [head, `    ${oneLine(problem, 300)}`]
  return [
    head,
    `    ${oneLine(meta?.description ?? "", 160)}`,
    ...warnings.map(warning => `    ⚠ ${oneLine(warning, 200)}`),
  ]
}

export const skillsShow = defineCommand({
  name: "skills show",
  summary: "show one skill: its description, text and references",
  arguments: [{ name: "NAME", summary: "the name of its folder" }],
  flags: {},
  examples: [{ line: "acode skills show NAME --json", note: "with the text of every reference" }],
  run: async ({ arguments: [name = ""] }, { service, output, globals }) => {
    const skill = await (await service()).showSkill(name)
    if (globals.json) output.json(skill)
    const { description, license, compatibility, allowedTools, metadata, referenceContents } = skill
    const facts: readonly (readonly [string, string | null])[] = [
      ["description", description],
      ["folder", shownPath(skill.directory)],
      ["license", license],
      ["compatibility", compatibility],
      ["allowed-tools", allowedTools === null ? null : `${allowedTools} (grants nothing)`],
      ...Object.entries(metadata),
      ...referenceContents.map(({ path, content }) => [path, `${content.length} characters`] as const),
    ]
    output.line(`${oneLine(skill.name, 80)}`)
    for (const [key, value] of facts)
      if (value !== null) output.line(`  ${oneLine(key, 40).padEnd(13)} ${oneLine(value, 1100)}`)
    for (const warning of [...skill.warnings, ...skill.leftOut]) output.line(`  ⚠ ${oneLine(warning, 300)}`)
    output.line()
    output.line(printable(skill.body.trim()))
    return 0
  },
})
