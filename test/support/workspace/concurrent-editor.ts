import { createHash } from "node:crypto"
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { type Random, seededRandom } from "../../soak/random.ts"
import { type AcodeRun, startAcode } from "../acode.ts"
import { planText } from "../plan/plan-workspace.ts"
import { untilNoProcessWith } from "../processes.ts"
import { contains, open, reply } from "../script-replies.ts"
import { Editor, type Written } from "./editor.ts"
import { type TempWorkspace, tempWorkspace } from "./temp-workspace.ts"

/** Files that only the person writes, and files that sessions write as well. */
const own = ["e0.txt", "e1.txt", "d/e2.txt", "d/e3.txt"]
const shared = ["c0.txt", "c1.txt", "d/c2.txt", "t0.txt"]

/** There as soon as the command has done its work; it still runs. */
const lastOfCommand = "made3.txt"

export interface EditedRounds {
  /** The violated rules. */
  readonly violations: readonly string[]
  /** The number of the person's contents that were removed and restored from a checkpoint. */
  readonly broughtBack: number
}

/**
 * One workspace in which sessions with commands run, are killed, resumed and undone while a person edits, creates,
 * deletes, moves, commits and switches branches. The journal of the person is the oracle: each content that the person
 * wrote and did not replace is in its place, in git, or comes back from a checkpoint. An undo and a resume without the
 * person's consent, and verbs that only read, remove nothing of the person's in the first place.
 */
export async function editedRounds(rounds: number, random: Random): Promise<EditedRounds> {
  using workspace = tempWorkspace({
    git: true,
    files: Object.fromEntries([...own, ...shared].map(path => [path, `first ${path}\n`])),
  })
  const world = new EditedWorkspace(workspace, random)
  const violations: string[] = []
  for (let round = 0; round < rounds; round++)
    violations.push(...(await world.round(round)).map(problem => `round ${round}: ${problem}`))
  const { lost, broughtBack } = await world.bringBack()
  const losses = lost.map(({ path, content }) => `lost: ${path} with ${content.trim()}`)
  return { violations: [...violations, ...losses], broughtBack }
}

type UndoKind = "plain" | "commands" | "everything" | "none"

class EditedWorkspace {
  private readonly editor: Editor
  private readonly marker = `edited-${crypto.randomUUID()}`
  private readonly problems: string[] = []
  /** True when she commits and switches branches in this round. */
  private usesGit = false

  constructor(
    private readonly workspace: TempWorkspace,
    private readonly random: Random,
  ) {
    // With choices of its own, so that how fast the person is decides nothing else.
    this.editor = new Editor(workspace.root, seededRandom(random.whole(2 ** 31)))
    for (const branch of ["one", "two"]) this.editor.git("branch", branch)
  }

  /** The first two take and leave what a person saved while a command ran, whatever the seed. */
  async round(index: number): Promise<readonly string[]> {
    const { random, editor } = this
    const isFree = index > 1
    const usesGit = isFree && random.whole(3) === 0
    this.usesGit = usesGit
    const until = isFree && random.whole(2) === 0 ? null : lastOfCommand
    const redoes = isFree && random.whole(4) === 0
    rmSync(join(this.workspace.root, lastOfCommand), { force: true })
    const missing = new Set(this.takenAway().map(textOf))
    await editor.while({ paths: own, usesGit, until }, () => this.session(index, isFree, redoes))
    // Sessions write other files than she does, unless she had a command run again.
    const byRecovery = redoes ? [] : this.takenAway().filter(written => !missing.has(textOf(written)))
    const kinds: readonly UndoKind[] = ["commands", "plain", "commands", "everything", "none"]
    const kind = isFree ? random.oneOf(kinds) : (kinds[index] ?? "plain")
    const before = editor.inPlace()
    const undo = () => this.undo(kind, isFree)
    const isEdited = isFree && random.whole(2) === 0
    if (isEdited) await editor.while({ paths: [...own, ...shared], usesGit }, undo)
    else await undo()
    // With the other kinds she agreed.
    const isJudged = kind === "plain" || kind === "none"
    const taken = isJudged ? before.filter(written => !editor.isLeft(written)).filter(this.isNotInGit) : []
    return [
      ...this.problems.splice(0),
      ...byRecovery.map(({ path, content }) => `taken by a session: ${path} with ${content.trim()}`),
      ...taken.map(({ path, content }) => `not asked about (${kind}): ${path} with ${content.trim()}`),
    ]
  }

  /** Her own git may take away what she committed. */
  private readonly isNotInGit = ({ content }: Written): boolean => !this.editor.isInGit(content)

  /** Returns contents that she wrote where no session writes, and that are neither there nor in git. */
  private takenAway(): readonly Written[] {
    const { editor } = this
    return editor
      .journal()
      .filter(({ path }) => !shared.includes(path))
      .filter(written => !editor.isInPlace(written) && this.isNotInGit(written))
  }

  /** The processes of a command that was killed may live for a moment. */
  private async session(index: number, mayDie: boolean, redoes: boolean): Promise<void> {
    const lane = index % 2 === 0 ? this.plan(index) : this.task(index)
    if (lane.before !== null) await this.toItsEnd(lane.before, false)
    const isKilled = await this.toItsEnd(lane.start, mayDie)
    await untilNoProcessWith(this.marker, 60_000)
    if (!isKilled || lane.resume === null || this.random.whole(4) === 0) return
    await this.toItsEnd(lane.resume, true)
    await untilNoProcessWith(this.marker, 60_000)
    await this.toItsEnd([...lane.resume, ...(redoes ? ["--redo-command"] : [])], false)
  }

  private plan(index: number) {
    const file = this.outside("plan.json")
    writeFileSync(
      file,
      planText(
        [
          ["file_write", { path: "t0.txt", contents: `tool ${index}\n` }],
          ["run_command", { argv: this.command() }],
        ],
        `edited-${index}`,
      ),
    )
    return { before: ["plan", "approve", file], start: ["plan", "run", file], resume: null }
  }

  private task(index: number) {
    const file = this.outside("script.json")
    const argv = this.command()
    const steps = [open("s1"), open("s2", "RUN_COMMAND", { depends_on: ["s1"] })]
    const acceptance = [contains("t0.txt", "tool")]
    const replies = [
      reply.plan({ write: ["*.txt", "d/*"], commands: [argv], steps, acceptance }),
      reply.write("t0.txt", `tool ${index}\n`),
      reply.finish(),
      reply.calls(["run_command", { argv }]),
      reply.finish(),
      reply.review("approve"),
    ]
    writeFileSync(file, JSON.stringify({ replies }))
    const flags = ["--yes=plan", "--script", file]
    return { before: null, start: ["run", "what is asked", ...flags], resume: ["resume", ...flags] }
  }

  /** Writes slowly, so that the person gets in between. */
  private command(): readonly string[] {
    const script =
      `: ${this.marker}; for i in 1 2 3; do echo $$ $i > c0.txt; echo $$ $i > d/c2.txt; sleep 0.1; ` +
      "echo $i > made$i.txt; done; rm -f c1.txt; sleep 0.2"
    return ["sh", "-c", script]
  }

  private async undo(kind: UndoKind, mayDie: boolean): Promise<void> {
    if (kind === "none") return void (await this.toItsEnd(["session", "list"], mayDie))
    const flags = kind === "plain" ? [] : ["--commands"]
    const also = kind === "everything" ? await this.doubtful() : []
    const isKilled = await this.toItsEnd(["session", "undo", ...flags, ...also], mayDie)
    if (isKilled) await this.toItsEnd(["session", "undo", ...flags], false)
  }

  private async doubtful(): Promise<readonly string[]> {
    const { stdout, exitCode } = await this.acode("session", "undo", "--preview", "--json").ended
    if (exitCode !== 0) return []
    const { foreign } = JSON.parse(stdout) as { readonly foreign: readonly string[] }
    return foreign.flatMap(path => ["--also", path])
  }

  /** Sometimes with `kill -9` at any moment; whether that happened. */
  private async toItsEnd(args: readonly string[], mayDie: boolean): Promise<boolean> {
    const running = this.acode(...args)
    if (mayDie && this.random.whole(3) === 0) {
      await Promise.race([running.ended, Bun.sleep(this.random.whole(1_500))])
      running.kill("SIGKILL")
    }
    const run = await running.ended
    const text = run.stdout + run.stderr
    // A file that a person saves at the same moment must not stop a command. A file tool that leaves
    // alone what her git checks out at the same moment does right.
    const changed = this.usesGit ? text.replaceAll('ACODE-FS-007: "t0.txt" was changed by', "") : text
    const isWrong = [65, 70].includes(run.exitCode ?? 0) || /ACODE-FS-007/.test(changed)
    if (isWrong) this.problems.push(`${args.join(" ")}: ${told(run)}`)
    return run.signal !== null
  }

  private acode(...args: readonly string[]) {
    const { root, environment } = this.workspace
    return startAcode(args, { cwd: root, env: environment, timeoutMs: 120_000 })
  }

  private outside(name: string): string {
    return join(this.workspace.outside, name)
  }

  /** Everything that is not where the person wrote it is restored from a checkpoint that says it has it. */
  async bringBack(): Promise<{ readonly lost: readonly Written[]; readonly broughtBack: number }> {
    const { editor } = this
    let missing = editor.journal().filter(each => !editor.isInPlace(each) && !editor.isInGit(each.content))
    const back = new Set<Written>()
    // What was displaced while it was being written is found by the next restore.
    for (let attempt = 0; attempt < 3 && missing.length > 0; attempt++) {
      for (const [id, group] of Map.groupBy(missing, each => this.copyOf(each, attempt)?.id ?? null)) {
        const paths = new Set(group.map(each => this.copyOf(each, attempt)?.path ?? each.path))
        if (id !== null) await this.acode("checkpoint", "restore", id, ...paths).ended
        for (const each of group) {
          const path = this.copyOf(each, attempt)?.path ?? each.path
          if (editor.isInPlace({ ...each, path })) back.add(each)
        }
      }
      missing = missing.filter(each => !back.has(each))
    }
    return { lost: missing, broughtBack: back.size }
  }

  /** The newest of the same name; one that has files displaced may hold more than it says. */
  private copyOf(
    { path, content }: Written,
    skipped: number,
  ): { readonly id: string; readonly path: string } | null {
    const kept = this.workspace.state("checkpoints")
    const sha256 = createHash("sha256").update(content).digest("hex")
    const copies = readdirSync(join(kept, "manifests"))
      .flatMap(name => /^(.*)\.json$/.exec(name)?.[1] ?? [])
      .toSorted()
      .toReversed()
      .flatMap(id => {
        const { entries, absent } = JSON.parse(readFileSync(join(kept, "manifests", `${id}.json`), "utf8"))
        const rows = entries.filter((row: readonly unknown[]) => row.includes(sha256))
        const isDisplaced = absent.includes(path) && existsSync(join(kept, "displaced", id))
        const paths: readonly string[] = rows.map((row: readonly unknown[]) => String(row[1]))
        return [...paths, ...(isDisplaced ? [path] : [])].map(each => ({ id, path: each }))
      })
    const named = copies.filter(copy => copy.path === path)
    const all = [...named, ...copies.filter(copy => copy.path !== path)]
    return all[skipped] ?? all[0] ?? null
  }
}

function textOf({ path, content }: Written): string {
  return `${path} ${content}`
}

function told({ exitCode, stdout, stderr }: AcodeRun): string {
  return `exits ${exitCode}: ${stdout}${stderr}`
}
