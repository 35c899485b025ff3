import { createHash } from "node:crypto"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

/** Answers of programs and of plain strings, for what acode computes by itself. Nothing here uses acode. */
export function sha256Of(content: string | Uint8Array): string {
  return createHash("sha256").update(content).digest("hex")
}

/** With their ends; a text without any has none. */
export function linesOf(text: string): string[] {
  return text === "" ? [] : text.split(/(?<=\n)/)
}

/** Runs a program to its end; an exit code that is not expected is a mistake of the test. */
function output(argv: readonly string[], cwd: string, expected: readonly number[] = [0]): Buffer {
  const { exitCode, stdout, stderr } = Bun.spawnSync([...argv], {
    cwd,
    stdin: "ignore",
    env: { PATH: process.env["PATH"] ?? "/usr/bin:/bin", LC_ALL: "C" },
  })
  if (!expected.includes(exitCode))
    throw new Error(`${argv.join(" ")} exits ${exitCode}: ${stderr.toString().slice(0, 500)}`)
  return stdout
}

/** A directory for files that an oracle is asked about. */
export class OracleDirectory implements Disposable {
  readonly path = mkdtempSync(join(tmpdir(), "acode-oracle-"))

  put(name: string, content: string | Uint8Array): void {
    writeFileSync(join(this.path, name), content)
  }

  /** The hunks from one text to another, as `diff -u` writes them. Empty for equal texts. */
  hunks(before: string, after: string): string {
    this.put("before", before)
    this.put("after", after)
    const patch = output(
      ["diff", "-u", "--label", "a/f", "--label", "b/f", "before", "after"],
      this.path,
      [0, 1],
    )
    return patch.toString("utf8").split("\n").slice(2).join("\n")
  }

  /** Lines added and removed, as git counts them. */
  counted(before: string, after: string): { readonly added: number; readonly removed: number } {
    this.put("before", before)
    this.put("after", after)
    const argv = ["git", "diff", "--no-index", "--minimal", "--numstat", "before", "after"]
    const [added = "0", removed = "0"] = output(argv, this.path, [0, 1]).toString().split("\t")
    return { added: Number(added), removed: Number(removed) }
  }

  /** What `git apply` makes of a text; null stands for a file that is not there. */
  applied(before: string | null, patch: string): string {
    rmSync(join(this.path, "f"), { force: true })
    if (before !== null) this.put("f", before)
    this.put("patch", patch)
    output(["git", "apply", "--whitespace=nowarn", "patch"], this.path)
    return output(["cat", "f"], this.path).toString("utf8")
  }

  /** Numbers of the lines that hold a text. */
  found(text: string, wanted: string): number[] {
    this.put("searched", text)
    const rows = output(["grep", "-naF", "-e", wanted, "searched"], this.path, [0, 1]).toString("latin1")
    return linesOf(rows).map(row => Number(row.slice(0, row.indexOf(":"))))
  }

  [Symbol.dispose](): void {
    rmSync(this.path, { recursive: true, force: true })
  }
}

/** A repository beside a directory, which git compares with it; in the directory itself there is nothing of it. */
export class OracleRepository {
  private readonly git: readonly string[]

  constructor(
    { path }: OracleDirectory,
    private readonly root: string,
  ) {
    const directory = join(path, "repository")
    this.git = ["git", `--git-dir=${directory}`, `--work-tree=${root}`, "-c", "core.quotepath=false"]
    output([...this.git, "init", "-q"], root)
    writeFileSync(join(directory, "info/exclude"), "/.agent/\n")
    this.commit()
  }

  /** Lines added and removed since the last time, by path; null for what git takes for binary. */
  changes(): ReadonlyMap<string, readonly [added: number | null, removed: number | null]> {
    output([...this.git, "add", "-A"], this.root)
    const argv = ["diff", "--cached", "--no-renames", "--minimal", "--numstat", "-z"]
    const rows = output([...this.git, ...argv, "HEAD"], this.root)
      .toString("utf8")
      .split("\0")
    const numbered = (text: string | undefined) => (text === "-" ? null : Number(text))
    return new Map(
      rows.slice(0, -1).map(row => {
        const [added, removed, ...path] = row.split("\t")
        return [path.join("\t"), [numbered(added), numbered(removed)] as const]
      }),
    )
  }

  commit(): void {
    const identity = ["-c", "user.name=Test", "-c", "user.email=test@example.invalid"]
    output([...this.git, "add", "-A"], this.root)
    output([...this.git, ...identity, "commit", "-q", "--allow-empty", "-m", "next"], this.root)
  }
}

/** Where two contents part, for a message of one line. */
export function difference(expected: Uint8Array, found: Uint8Array): string | null {
  if (Buffer.compare(expected, found) === 0) return null
  const length = Math.min(expected.length, found.length)
  let at = 0
  while (at < length && expected[at] === found[at]) at += 1
  const around = (bytes: Uint8Array) =>
    JSON.stringify(Buffer.from(bytes.subarray(Math.max(0, at - 12), at + 20)).toString("latin1"))
  return `differs at byte ${at} of ${expected.length} (${found.length} found): ${around(expected)} became ${around(found)}`
}
