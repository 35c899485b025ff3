import { createHash } from "node:crypto"
import { existsSync, lstatSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import type { Random } from "../../soak/random.ts"

/** Something a person wrote, and where. */
export interface Written {
  readonly path: string
  readonly content: string
}

export interface EditingOptions {
  readonly paths: readonly string[]
  /** Commits, stages and switches branches as well. */
  readonly usesGit?: boolean
  /** Nothing more is saved once this file is there. */
  readonly until?: string | null
}

/**
 * A person at an editor with a journal. Before each step the path is read: content of the person that is missing was
 * removed by another program. What the person replaces, deletes or moves was removed by the person.
 */
export class Editor {
  private readonly wrote = new Map<string, string>()
  private takenAway: Written[] = []
  private count = 0
  private isBusy = false

  constructor(
    private readonly root: string,
    private readonly random: Random,
  ) {}

  /** Edits until the work is done. */
  async while(options: EditingOptions, work: () => Promise<void>): Promise<void> {
    this.isBusy = true
    const editing = this.edit(options)
    try {
      await work()
    } finally {
      this.isBusy = false
      await editing
    }
  }

  /** Everything the person wrote and did not replace. */
  journal(): readonly Written[] {
    return [...this.takenAway, ...[...this.wrote].map(([path, content]) => ({ path, content }))]
  }

  /** Returns the contents that are where they were written. */
  inPlace(): readonly Written[] {
    return this.journal().filter(written => this.isInPlace(written))
  }

  /** Returns whether a content is where it was written, or the person has written there since. */
  isLeft(written: Written): boolean {
    return this.wrote.get(written.path) !== written.content || this.isInPlace(written)
  }

  isInPlace({ path, content }: Written): boolean {
    return this.read(path) === content
  }

  /** Returns whether git holds the content, in a commit or the index: that is the person's own copy too. */
  isInGit(content: string): boolean {
    const hash = createHash("sha1")
      .update(`blob ${Buffer.byteLength(content)}\0${content}`)
      .digest("hex")
    return Bun.spawnSync(["git", "cat-file", "-e", hash], { cwd: this.root, stderr: "ignore" }).exitCode === 0
  }

  git(...args: readonly string[]): void {
    const identity = ["-c", "user.name=Ada", "-c", "user.email=ada@example.invalid"]
    Bun.spawnSync(["git", ...identity, ...args], { cwd: this.root, stderr: "ignore", stdout: "ignore" })
  }

  private async edit({ paths, usesGit = false, until = null }: EditingOptions): Promise<void> {
    while (this.isBusy && (until === null || !existsSync(join(this.root, until)))) {
      this.step(this.random.oneOf([...paths, `n${this.random.whole(4)}.txt`]), usesGit)
      await Bun.sleep(this.random.whole(20))
    }
  }

  private step(path: string, usesGit: boolean): void {
    const kind = this.random.whole(20)
    if (usesGit && kind === 19) this.switchBranch()
    else if (usesGit && kind === 18) this.git("add", "--", path)
    else if (kind >= 16) this.move(path)
    else if (kind >= 14) this.remove(path)
    else if (kind >= 8) this.saveByRename(path)
    else this.saveInPlace(path)
  }

  private saveInPlace(path: string): void {
    const text = this.text(path)
    this.letGo(path)
    if (!this.isFileAt(path)) return
    this.wrote.set(path, text)
    writeFileSync(join(this.root, path), text)
  }

  private saveByRename(path: string): void {
    const [text, aside] = [this.text(path), `${path}.swp`]
    if (!this.isFileAt(path) || !this.isFileAt(aside)) return
    this.letGo(aside)
    this.wrote.set(aside, text)
    writeFileSync(join(this.root, aside), text)
    this.rename(aside, path)
  }

  private remove(path: string): void {
    this.letGo(path)
    rmSync(join(this.root, path), { force: true })
  }

  private move(path: string): void {
    if (this.read(path) !== null) this.rename(path, `m${this.random.whole(3)}.txt`)
  }

  /** Moves a file over another one, unless another program removed it before. */
  private rename(from: string, to: string): void {
    const content = this.read(from)
    if (content === null) return
    this.letGo(to)
    this.letGo(from)
    try {
      renameSync(join(this.root, from), join(this.root, to))
    } catch {
      // Another program removed it first, and must have kept a copy.
      this.takenAway.push({ path: from, content })
      return
    }
    this.wrote.set(to, content)
  }

  private switchBranch(): void {
    this.git("commit", "-qam", "mine")
    this.git("switch", "-q", this.random.oneOf(["one", "two"]))
  }

  /** The person is about to replace what is there now, and nothing else. */
  private letGo(path: string): void {
    const [mine, there] = [this.wrote.get(path), this.read(path)]
    this.takenAway = this.takenAway.filter(taken => taken.path !== path || taken.content !== there)
    if (mine === undefined) return
    this.wrote.delete(path)
    if (mine !== there) this.takenAway.push({ path, content: mine })
  }

  /** Returns whether a file is there or can be created: an undo may have removed the directory. */
  private isFileAt(path: string): boolean {
    const at = join(this.root, path)
    mkdirSync(dirname(at), { recursive: true })
    return !lstatSync(at, { throwIfNoEntry: false })?.isDirectory()
  }

  private text(path: string): string {
    return `hers ${++this.count} ${path}\n`
  }

  private read(path: string): string | null {
    try {
      return readFileSync(join(this.root, path), "utf8")
    } catch {
      // Nothing is there, or no file.
      return null
    }
  }
}
