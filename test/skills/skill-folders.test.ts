import { afterEach, beforeEach, describe, expect, test } from "bun:test"
import { chmodSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { decodeYaml } from "../../src/app/wiring/skills.ts"
import {
  findSkill,
  findSkills,
  loadSkill,
  type SkillPlace,
  SkillProblem,
} from "../../src/skills/find-skills.ts"
import { repositoryRoot, runAcode } from "../support/acode.ts"
import { type TempWorkspace, tempWorkspace } from "../support/workspace/temp-workspace.ts"

const examples = join(repositoryRoot, "examples/marketing/.agents/skills")

let temp: TempWorkspace
let place: SkillPlace
beforeEach(() => {
  temp = tempWorkspace()
  place = { directory: join(temp.root, ".agents/skills"), shown: ".agents/skills", within: temp.root }
})
afterEach(() => temp[Symbol.dispose]())

const head = (name: string) => `---\nname: ${name}\ndescription: Does ${name}.\n---\n`
const skill = (name: string, text = `${head(name)}Body of ${name}\n`) =>
  temp.write(`.agents/skills/${name}/SKILL.md`, text)
const load = (name: string, places: readonly SkillPlace[] = [place]) => {
  const found = findSkill(places, name)
  if (found === null) throw new Error("NOT_FOUND")
  return loadSkill(found, decodeYaml)
}
const problemOf = (name: string): string => {
  try {
    load(name)
    return "none"
  } catch (error) {
    if (error instanceof SkillProblem) return error.message
    throw error
  }
}

describe("DET-06: the content of a skill", () => {
  const shipped: SkillPlace = { directory: examples, shown: "examples", within: null }

  test("a real skill has a body without the lines of dashes, and references with their content", () => {
    const { body, referenceContents, warnings, metadata } = load("copywriting", [shipped])
    const text = readFileSync(join(examples, "copywriting/SKILL.md"), "utf8")
    expect(body.length).toBeGreaterThan(100)
    expect(body).not.toContain("---")
    expect(text).toEndWith(body)
    expect(referenceContents.map(({ path }) => path)).toEqual([
      "references/headlines.md",
      "references/voice.md",
    ])
    for (const { path, content } of referenceContents)
      expect(content).toBe(readFileSync(join(examples, "copywriting", path), "utf8"))
    expect({ warnings, squad: metadata["squad"] }).toEqual({ warnings: [], squad: "creative" })
  })

  test("a skill without references has none", () => {
    expect(load("social-content", [shipped]).referenceContents).toEqual([])
  })

  test("an unknown skill is not found, whatever its name is", () => {
    skill("real")
    for (const name of ["other", "", "..", "../skills/real", "real/SKILL.md", "re\0al", "."])
      expect(findSkill([place], name)).toBeNull()
  })

  test("a reference that cannot be read is left out with a warning, and the others stay", () => {
    skill("a")
    temp.write(".agents/skills/a/references/1.md", "one")
    temp.write(".agents/skills/a/references/2.md", Buffer.from([0xff, 0xfe, 0xfd]))
    mkdirSync(join(place.directory, "a/references/3.md"))
    symlinkSync("/etc/passwd", join(place.directory, "a/references/4.md"))
    symlinkSync("gone.md", join(place.directory, "a/references/5.md"))
    symlinkSync("1.md", join(place.directory, "a/references/6.md"))
    temp.write(".agents/skills/a/references/7.md", "x".repeat(1024 * 1024 + 1))
    temp.write(".agents/skills/a/references/notes.txt", "not one")
    const { referenceContents, warnings, leftOut } = load("a")
    expect(referenceContents).toEqual([
      { path: "references/1.md", content: "one" },
      { path: "references/6.md", content: "one" },
    ])
    expect(warnings).toEqual([])
    expect(leftOut).toEqual([
      "left out: references/2.md is not UTF-8 text",
      "left out: references/3.md is not a file",
      "left out: references/4.md is a symlink that leads out of its folder",
      "left out: references/5.md cannot be read (ENOENT)",
      "left out: references/7.md is larger than 1048576 bytes",
    ])
  })

  test("an empty body is an empty text", () => {
    skill("bare", "\ufeff---\r\nname: bare\r\ndescription: Nothing.\r\n---")
    expect(load("bare").body).toBe("")
  })
})

describe("a SKILL.md that cannot be used", () => {
  test("says why", () => {
    skill("nothing", "")
    skill("open", "---\nname: open\n")
    skill("nameless", "---\ndescription: x\n---\n")
    skill("huge", `${head("huge")}${"x".repeat(1024 * 1024)}`)
    mkdirSync(join(place.directory, "folder/SKILL.md"), { recursive: true })
    mkdirSync(join(place.directory, "link"))
    symlinkSync("/etc/hostname", join(place.directory, "link/SKILL.md"))
    expect(["nothing", "open", "nameless", "huge", "folder", "link"].map(problemOf)).toEqual([
      "SKILL.md, line 1: is empty; it begins with a line of three dashes (---)",
      "SKILL.md, line 1: has no second line of three dashes (---) that ends the front matter",
      "SKILL.md: name is missing",
      "SKILL.md is larger than 1048576 bytes",
      "SKILL.md is not a file",
      "SKILL.md is a symlink that leads out of its folder",
    ])
  })

  test("is not read from outside of the workspace, and from a person's own places it is", () => {
    const elsewhere = join(temp.outside, "elsewhere/far")
    mkdirSync(elsewhere, { recursive: true })
    writeFileSync(join(elsewhere, "SKILL.md"), head("far"))
    mkdirSync(place.directory, { recursive: true })
    symlinkSync(elsewhere, join(place.directory, "far"))
    expect(problemOf("far")).toBe("its folder is a symlink that leads out of the workspace")
    expect(load("far", [{ ...place, within: null }]).name).toBe("far")
  })

  test("is read line by line where its front matter is almost YAML", () => {
    skill("colon", "---\nname: colon\ndescription: Use when: it rains\n---\nx")
    const { description, warnings } = load("colon")
    expect(description).toBe("Use when: it rains")
    expect(warnings[0]).toContain("its front matter is not YAML")
  })
})

test("of two skills with one name the one in the first place counts", () => {
  const first = join(temp.outside, "first")
  mkdirSync(join(first, "twice"), { recursive: true })
  writeFileSync(join(first, "twice/SKILL.md"), head("twice"))
  skill("twice")
  skill("once")
  const places = [{ directory: first, shown: "first", within: null }, place]
  const { skills, hidden } = findSkills(places)
  expect(skills.map(each => `${each.place.shown}/${each.name}`)).toEqual([
    ".agents/skills/once",
    "first/twice",
  ])
  expect(hidden.map(each => `${each.place.shown}/${each.name}`)).toEqual([".agents/skills/twice"])
})

describe("acode skills", () => {
  const acode = (...args: string[]) =>
    runAcode(args, { cwd: temp.root, env: { ...temp.environment, HOME: temp.outside } })

  test("lists every skill with its place and what is wrong with it", async () => {
    skill("good")
    skill("odd", head("other"))
    skill("broken", "no front matter")
    mkdirSync(join(temp.outside, ".claude/skills/good"), { recursive: true })
    writeFileSync(join(temp.outside, ".claude/skills/good/SKILL.md"), head("good"))
    const { stdout, exitCode } = await acode("skills", "list")
    expect({ exitCode, lines: stdout.split("\n") }).toEqual({
      exitCode: 0,
      lines: [
        "✗ broken  .agents/skills",
        "    SKILL.md, line 1: does not begin with a line of three dashes (---)",
        "  good    .agents/skills",
        "    Does good.",
        "  odd     .agents/skills",
        "    Does other.",
        "    ⚠ name is not the name of its folder, odd",
        "  good    ~/.claude/skills  (another one of the name comes first)",
        "",
      ],
    })
  })

  test("finds more places only where a person has configured them", async () => {
    const more = join(temp.outside, "more")
    mkdirSync(join(more, "extra"), { recursive: true })
    writeFileSync(join(more, "extra/SKILL.md"), head("extra"))
    const config = JSON.stringify({ schema_version: "1", skills: { directories: [more] } })
    temp.write(".agent/config.yml", config)
    const names = async () =>
      JSON.parse((await acode("skills", "list", "--json")).stdout).map((each: { name: string }) => each.name)
    expect(await names()).toEqual([])
    expect((await acode("config", "trust")).exitCode).toBe(0)
    expect(await names()).toEqual(["extra"])
  })

  test("shows one, and refuses one that is not there or cannot be used", async () => {
    skill("good")
    skill("broken", "no front matter")
    const shown = JSON.parse((await acode("skills", "show", "good", "--json")).stdout)
    expect(shown).toMatchObject({ name: "good", body: "Body of good\n", place: ".agents/skills" })
    const missing = await acode("skills", "show", "goood")
    expect(missing).toMatchObject({ exitCode: 2, stderr: expect.stringContaining("did you mean good?") })
    const broken = await acode("skills", "show", "broken")
    expect(broken).toMatchObject({ exitCode: 1, stderr: expect.stringContaining("ACODE-SKILL-001") })
  })

  test("a place that may not be read holds no skills", async () => {
    skill("good")
    chmodSync(place.directory, 0o000)
    expect((await acode("skills", "list")).exitCode).toBe(0)
    chmodSync(place.directory, 0o755)
  })
})
