import { afterEach, expect, test } from "bun:test"
import { spawnSync } from "node:child_process"
import { createHash } from "node:crypto"
import { cpSync, existsSync, lstatSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { type Random, seededRandom } from "../soak/random.ts"
import { type AgentRoom, agentRoom } from "../support/agent/agent-room.ts"
import { check } from "../support/checker/checker.ts"
import { reply } from "../support/script-replies.ts"

const seed = Number(process.env["ACODE_TEST_SEED"] ?? 20_261_116)

let room: AgentRoom | null = null
afterEach(() => {
  room?.[Symbol.dispose]()
  room = null
})

type Criterion =
  | { readonly kind: "file_exists"; readonly path: string }
  | { readonly kind: "file_contains"; readonly path: string; readonly pattern: string }
  | { readonly kind: "command"; readonly command: readonly string[]; readonly expect_exit: number }

const files = ["a.txt", "b.txt", "d/c.txt"] as const
/** Nothing of these is part of the tree's digest. */
const unseen = ["cache/x.txt", "empty"] as const

function criterion(random: Random): Criterion {
  const [one, other] = [random.oneOf(files), random.oneOf(files)]
  const anything = random.oneOf([...files, ...unseen])
  const command = (text: string, expectExit = 0) =>
    ({ kind: "command", command: ["sh", "-c", text], expect_exit: expectExit }) as const
  return random.oneOf([
    { kind: "file_exists", path: anything },
    { kind: "file_contains", path: random.oneOf([...files, "cache/x.txt"]), pattern: "one" },
    command(`test -e ${one}`),
    command(`grep -q one ${one}`),
    command(`test -e ${one}; mkdir -p d; cp a.txt ${one} 2>/dev/null; true`),
    command(`rm -f ${one}; true`),
    command(`rm -f cache/x.txt; rmdir empty 2>/dev/null; true`),
    command(`mv ${one} ${other} 2>/dev/null; true`),
    command(`sed -i s/one/two/ ${one} 2>/dev/null; true`),
    command(`test ! -e mark && touch mark`),
    command(`date +%N >> stamps.txt`),
    command(`chmod 755 ${one}; test -x ${one}`),
    command(`touch report.txt; exit 3`, 3),
  ] as const)
}

function isCommand({ kind }: Criterion): boolean {
  return kind === "command"
}

/** Written by hand, without anything of the product, in a copy: a command may change what it looks at. */
function holds(root: string, wanted: Criterion): boolean {
  if (wanted.kind === "file_exists") return existsSync(join(root, wanted.path))
  if (wanted.kind === "file_contains") {
    const file = join(root, wanted.path)
    return existsSync(file) && readFileSync(file, "utf8").includes(wanted.pattern)
  }
  const copy = mkdtempSync(join(tmpdir(), "verified-"))
  try {
    cpSync(root, copy, { recursive: true, preserveTimestamps: true })
    const [program = "", ...args] = wanted.command
    return spawnSync(program, args, { cwd: copy }).status === wanted.expect_exit
  } finally {
    rmSync(copy, { recursive: true, force: true })
  }
}

/** What git would commit, by path, mode and content. */
function manifest(root: string): string {
  const listed = readdirSync(root, { recursive: true, encoding: "utf8" })
    .filter(path => !/^(?:cache|\.git|\.agent)(?:\/|$)/.test(path))
    .toSorted()
  const rows = listed.flatMap(path => {
    const stat = lstatSync(join(root, path))
    if (!stat.isFile()) return []
    const content = createHash("sha256")
      .update(readFileSync(join(root, path)))
      .digest("hex")
    return [`${stat.mode.toString(8)} ${path} ${content}`]
  })
  return rows.join("\n")
}

test("what is done and verified holds, all of it, of the tree that is there at the end", async () => {
  const trees = new Map<string, string>()
  const endings: number[] = []
  for (let each = seed; each < seed + 24; each++) {
    const random = seededRandom(each)
    const wanted = Array.from({ length: 1 + random.whole(4) }, () => criterion(random))
    const acceptance = wanted.map((one, index) => ({ id: `c${index + 1}`, ...one }))
    room = await agentRoom(
      [
        reply.plan({ write: ["new.txt"], acceptance }),
        ...[reply.write("new.txt", "new\n"), reply.finish(), reply.review("approve")],
      ],
      {
        git: true,
        files: { "a.txt": "one\n", "b.txt": "one\n", ".gitignore": "cache/\n", "cache/x.txt": "one\n" },
        limits: { cyclesMax: 0 },
      },
    )
    const { root } = room.workspace
    spawnSync("mkdir", ["-p", join(root, "empty"), join(root, "d")])
    const { exitCode, reason } = await room.drive()
    endings.push(exitCode)
    expect([0, 40, 41]).toContain(exitCode)
    if (exitCode === 0) {
      const broken = wanted.filter(one => !holds(root, one))
      expect({ seed: each, wanted, broken }).toEqual({ seed: each, wanted, broken: [] })
      // The step writes a file that no criterion names: what looks at a file proves nothing.
      expect({ seed: each, wanted, isProved: wanted.some(isCommand) }).toMatchObject({ isProved: true })
      const recorded = String(room.data("session.finished")[0]?.["treeDigest"])
      const there = manifest(root)
      expect(trees.get(recorded) ?? there).toBe(there)
      trees.set(recorded, there)
    } else if (exitCode === 41 && wanted.some(isCommand))
      expect(reason).toMatch(/not verified: .* again while t1\/c\d/)
    else if (exitCode === 41)
      expect(reason).toMatch(/not verified: the steps changed nothing that c1.* covers?, so/)
    expect(await check(room.workspace)).toEqual([])
    room[Symbol.dispose]()
    room = null
  }
  expect(new Set(trees.values()).size).toBe(trees.size)
  expect([...new Set(endings)].toSorted()).toEqual([0, 40, 41])
}, 120_000)
