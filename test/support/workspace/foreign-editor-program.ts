import {
  closeSync,
  fstatSync,
  ftruncateSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  unlinkSync,
  writeFileSync,
  writeSync,
} from "node:fs"
import { join } from "node:path"
import { seededRandom } from "../../soak/random.ts"

/** A content that the editor wrote, as it prints it at its end. */
export interface EditorToken {
  readonly token: string
  /** The time of the write, by the clock of the file system. */
  readonly ctimeNs: string
  /** True when the editor itself replaced or removed it. */
  readonly isRetired: boolean
}

const directories = ["", "d/", "d/e/", "m/"]
const names = [..."abcfghij"]

/**
 * Edits a directory until its standard input ends: in place, by rename, creates, deletes, moves directories in and
 * away, and commits and switches branches. Each content is a token of its own, and the tokens are printed at the end.
 */
async function edit(): Promise<void> {
  const [root = "", outside = "", seed = "0", usesGit = ""] = process.argv.slice(2)
  const editor = new ForeignEditor(root, outside, Number(seed))
  let isStopped = false
  process.stdin.resume()
  process.stdin.on("end", () => {
    isStopped = true
  })
  process.stdout.write("ready\n")
  for (let count = 0; !isStopped; count++) {
    editor.act(usesGit === "git")
    if (count % editor.burst === 0) await Bun.sleep(editor.pauseMs)
  }
  process.stdout.write(`${JSON.stringify(editor.tokens())}\n`)
}

class ForeignEditor {
  private readonly random
  private readonly written = new Map<string, { ctimeNs: string; isRetired: boolean }>()
  private serial = 0
  /** The pace: a person who saves now and then, up to a program that writes all the time. */
  readonly burst: number
  readonly pauseMs: number

  constructor(
    private readonly root: string,
    private readonly outside: string,
    private readonly seed: number,
  ) {
    this.random = seededRandom(seed)
    this.burst = this.random.oneOf([1, 2, 8, 64])
    this.pauseMs = this.random.oneOf([0, 1, 4, 20])
  }

  tokens(): readonly EditorToken[] {
    return [...this.written].map(([token, about]) => ({ token, ...about }))
  }

  act(usesGit: boolean): void {
    const path = join(this.root, this.random.oneOf(directories) + this.random.oneOf(names))
    try {
      this.one(path, this.random.whole(usesGit ? 41 : 40))
    } catch (error) {
      // A path that is not there, or of another kind: the next choice is another one.
      if (!(error instanceof Error && "code" in error)) throw error
    }
  }

  private one(path: string, choice: number): void {
    if (choice < 14) this.inPlace(path)
    else if (choice < 28) this.byRename(path)
    else if (choice < 33) this.create(path)
    else if (choice < 36) this.remove(path)
    else if (choice < 37) this.moveAway()
    else if (choice < 40) this.moveIn()
    else this.switchBranch()
  }

  private inPlace(path: string): void {
    const fd = openSync(path, "r+")
    try {
      const old = readFileSync(fd, "utf8")
      const token = this.token()
      this.retire(old)
      ftruncateSync(fd)
      writeSync(fd, token, 0)
      this.note(token, fstatSync(fd, { bigint: true }).ctimeNs)
    } finally {
      closeSync(fd)
    }
  }

  private byRename(path: string): void {
    const temporary = `${path}.${this.seed}.tmp`
    const token = this.token()
    writeFileSync(temporary, token)
    this.note(token, lstatSync(temporary, { bigint: true }).ctimeNs)
    try {
      this.retire(readFileSync(path, "utf8"))
    } finally {
      renameSync(temporary, path)
    }
  }

  private create(path: string): void {
    const token = this.token()
    writeFileSync(path, token, { flag: "wx" })
    this.note(token, lstatSync(path, { bigint: true }).ctimeNs)
  }

  private remove(path: string): void {
    const token = readFileSync(path, "utf8")
    unlinkSync(path)
    this.retire(token)
  }

  /** Puts a directory out of the way, where its files are still found. */
  private moveAway(): void {
    renameSync(
      join(this.root, this.random.oneOf(["d", "d/e", "m"])),
      join(this.outside, `away${this.serial++}`),
    )
  }

  /** Moves a directory in whose files are older than everything else. */
  private moveIn(): void {
    const away = readdirSync(this.outside).filter(name => name.startsWith("away"))
    if (away.length > 0) {
      renameSync(
        join(this.outside, this.random.oneOf(away)),
        join(this.root, this.random.oneOf(["d", "d/e", "m"])),
      )
      return
    }
    mkdirSync(join(this.root, this.random.oneOf(["d/e", "m"])), { recursive: true })
  }

  private switchBranch(): void {
    const git = (...args: readonly string[]) =>
      Bun.spawnSync(["git", "-C", this.root, ...args]).exitCode === 0
    if (git("add", "-A") && git("commit", "-qm", "saved"))
      git("checkout", "-q", this.random.oneOf(["one", "two"]))
    rmSync(join(this.root, ".git/index.lock"), { force: true })
  }

  private token(): string {
    return `token-${this.seed}-${this.serial++}\n`
  }

  private note(token: string, ctimeNs: bigint): void {
    this.written.set(token, { ctimeNs: String(ctimeNs), isRetired: false })
  }

  private retire(content: string): void {
    const known = this.written.get(content)
    if (known !== undefined) known.isRetired = true
  }
}

if (import.meta.main) await edit()
