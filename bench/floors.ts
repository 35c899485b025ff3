import { Database } from "bun:sqlite"
import { closeSync, fsyncSync, mkdtempSync, openSync, renameSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

/** The minimum cost of a process: start it and reap it. */
export async function bareSpawn(argv: readonly string[] = ["/bin/true"]): Promise<void> {
  await Bun.spawn([...argv], { env: {}, stdin: "ignore", stdout: "ignore", stderr: "ignore" }).exited
}

/** The minimum cost of reading a whole output and hashing it. */
export async function bareDrain(argv: readonly string[]): Promise<void> {
  const child = Bun.spawn([...argv], { env: {}, stdin: "ignore", stdout: "pipe", stderr: "ignore" })
  const hasher = new Bun.CryptoHasher("sha256")
  for await (const chunk of child.stdout) hasher.update(chunk)
  hasher.digest("hex")
  await child.exited
}

/** The minimum cost of a row on the disk: the pragmas of the store, one row, one commit. */
export function durableCommits(directory: string): { commit(): void } & Disposable {
  const database = new Database(join(directory, "floor.db"), { create: true, strict: true })
  for (const pragma of ["busy_timeout = 10000", "journal_mode = WAL", "synchronous = FULL"])
    database.run(`PRAGMA ${pragma}`)
  database.run("CREATE TABLE rows (id INTEGER PRIMARY KEY, data TEXT NOT NULL) STRICT")
  const insert = database.query("INSERT INTO rows (data) VALUES (?)")
  const data = "x".repeat(1_000)
  return {
    commit: () => {
      database.run("BEGIN IMMEDIATE")
      insert.run(data)
      database.run("COMMIT")
    },
    [Symbol.dispose]: () => database.close(),
  }
}

/** The minimum cost of a copy of a small file: a content and a list of names, each synced, renamed, synced. */
export function barePreImage(directory: string, content: string): void {
  for (const name of ["content", "manifest"]) {
    const path = join(directory, name)
    const fd = openSync(`${path}.tmp`, "w")
    writeFileSync(fd, content)
    fsyncSync(fd)
    closeSync(fd)
    renameSync(`${path}.tmp`, path)
    const parent = openSync(directory, "r")
    fsyncSync(parent)
    closeSync(parent)
  }
}

/** A program that says hello, compiled the way acode is. */
export function compiledHello(): { readonly path: string } & Disposable {
  const directory = mkdtempSync(join(tmpdir(), "acode-hello-"))
  const source = join(directory, "hello.ts")
  const path = join(directory, "hello")
  // The cheapest way to say it. With process.stdout.write this very program takes about four times the processor
  // time, and a floor that is too high makes everything held against it look good.
  writeFileSync(source, 'console.log("hello")\n')
  const quiet = ["dotenv", "bunfig", "tsconfig", "package-json"].map(name => `--no-compile-autoload-${name}`)
  const flags = ["--compile", "--minify", "--bytecode", "--format=esm", ...quiet, "--outfile", path]
  const { exitCode, stderr } = Bun.spawnSync([process.execPath, "build", ...flags, source], {
    cwd: directory,
  })
  if (exitCode !== 0) throw new Error(`cannot compile hello: ${stderr.toString()}`)
  return { path, [Symbol.dispose]: () => rmSync(directory, { recursive: true, force: true }) }
}
