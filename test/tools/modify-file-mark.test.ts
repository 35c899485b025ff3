import { afterEach, beforeEach, expect, test } from "bun:test"
import { spawnSync } from "node:child_process"
import { mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { type Random, seededRandom } from "../soak/random.ts"
import { missingProgram, testWhere } from "../support/requirement.ts"
import { type TestRoom, testRoom } from "./support.ts"

const seed = Number(process.env["ACODE_TEST_SEED"] ?? 20_261_116)
const mark = "\ufeff"
const gitTest = testWhere(missingProgram("git"))

let t: TestRoom
beforeEach(() => {
  t = testRoom()
})
afterEach(() => t[Symbol.dispose]())

function git(directory: string, args: readonly string[], input = ""): string {
  const isolated = { GIT_CONFIG_GLOBAL: "/dev/null", GIT_CONFIG_SYSTEM: "/dev/null" }
  const run = spawnSync("git", ["-c", "core.autocrlf=false", ...args], {
    cwd: directory,
    input,
    encoding: "utf8",
    maxBuffer: 1e8,
    env: { ...process.env, ...isolated },
  })
  if (run.status !== 0) throw new Error(`git ${args.join(" ")}: ${run.stderr}`)
  return run.stdout
}

interface Drawn {
  readonly before: string
  readonly after: string
}

/** Lines are alike often enough that a place has to be found by more than one of them. */
function drawn(random: Random): Drawn {
  const word = () => random.oneOf(["one", "two", "three", "é", "", "\ufeffx", `n${random.whole(50)}`])
  const end = random.oneOf(["\n", "\r\n"])
  const lines = Array.from({ length: 1 + random.whole(12) }, word)
  const edited = [...lines]
  for (let edits = 1 + random.whole(3); edits > 0; edits--) {
    // The first line is what it is about.
    const at = random.whole(2) === 0 ? 0 : random.whole(edited.length + 1)
    const kind = random.whole(3)
    if (kind === 0) edited.splice(at, 0, word())
    else if (kind === 1) edited.splice(at, 1, word())
    else edited.splice(at, 1)
  }
  const text = (parts: readonly string[], isEnded: boolean) => parts.join(end) + (isEnded ? end : "")
  const [markBefore, markAfter] = random.oneOf([
    [mark, mark],
    [mark, mark],
    [mark, mark],
    [mark, ""],
    ["", mark],
  ])
  const isEnded = random.whole(2) === 0
  return {
    before: markBefore + text(lines, isEnded),
    after: markAfter + text(edited, random.whole(4) === 0 ? !isEnded : isEnded),
  }
}

/** What git makes of each case: its patch, in the order of the names, and the file where the patch is applied. */
function byGit(cases: readonly (Drawn & { readonly name: string })[], context: string) {
  const directory = join(t.outside, `repository${context}`)
  mkdirSync(directory)
  git(directory, ["init", "-q"])
  for (const { name, before } of cases) writeFileSync(join(directory, name), before)
  git(directory, ["add", "."])
  for (const { name, after } of cases) writeFileSync(join(directory, name), after)
  const whole = git(directory, ["diff", context])
  git(directory, ["checkout", "-q", "."])
  // Without context git may take a line away that only looks like the one that was meant.
  if (context !== "-U0") git(directory, ["apply", "--whitespace=nowarn"], whole)
  const patches = new Map(
    whole.split(/^(?=diff --git )/m).map(patch => [/^diff --git a\/(\S+)/.exec(patch)?.[1] ?? "", patch]),
  )
  return cases.flatMap(({ name, before, after }) => {
    const patch = patches.get(name)
    if (patch === undefined) return []
    const wanted = context === "-U0" ? Buffer.from(after) : readFileSync(join(directory, name))
    return [{ name, before, patch, wanted: wanted.toString("hex") }]
  })
}

gitTest(
  "a patch as git prints it does what git apply does, to the byte, whatever becomes of the mark",
  async () => {
    const random = seededRandom(seed)
    for (const context of ["-U3", "-U1", "-U0"]) {
      const drawings = Array.from({ length: 150 }, (_, index) => ({
        name: `f${index}.txt`,
        ...drawn(random),
      }))
      const cases = byGit(drawings, context)
      expect(cases.length).toBeGreaterThan(100)
      for (const { name, before, patch, wanted } of cases) {
        t.put(name, before)
        await t.call("modify_file", { path: name, patch })
        const got = t.bytes(name).toString("hex")
        expect({ before, patch, got }).toEqual({ before, patch, got: wanted })
      }
    }
  },
  60_000,
)

gitTest(
  "a patch by somebody who was shown the file without its mark fits, and the mark stays",
  async () => {
    const random = seededRandom(seed + 1)
    const directory = join(t.outside, "repository")
    mkdirSync(directory)
    git(directory, ["init", "-q"])
    for (let round = 0; round < 60; round++) {
      const { before, after } = drawn(random)
      const bare = (text: string) => text.replace(/^\ufeff+/, "")
      writeFileSync(join(directory, "a.txt"), bare(before))
      git(directory, ["add", "."])
      writeFileSync(join(directory, "a.txt"), bare(after))
      const patch = git(directory, ["diff"])
      if (patch === "") continue
      t.put("a.txt", mark + bare(before))
      await t.call("modify_file", { path: "a.txt", patch })
      expect(t.bytes("a.txt").toString("hex")).toBe(Buffer.from(mark + bare(after)).toString("hex"))
    }
  },
  60_000,
)

test("a patch that takes the mark away or brings it says so before it is made", async () => {
  t.put("a.txt", `${mark}x\n`)
  const patch = "--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-\ufeffx\n+x\n"
  const { preview } = await t.declare("modify_file", { path: "a.txt", patch }).prepare()
  expect(preview).toContain("a.txt (without its byte order mark now)")
  const wide = Buffer.from(`${mark}x\n`, "utf16le")
  t.put("wide.txt", wide)
  await t.call("modify_file", {
    path: "wide.txt",
    patch: patch.replaceAll("a.txt", "wide.txt").replace("+x", "+y"),
  })
  expect(t.bytes("wide.txt")).toEqual(Buffer.from(`${mark}y\n`, "utf16le"))
})
