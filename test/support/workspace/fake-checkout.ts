import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { repositoryRoot } from "../acode.ts"

export interface FakeCheckout extends Disposable {
  readonly root: string
  write(path: string, text: string, mode?: number): string
  run(argv: readonly string[], options?: FakeRunOptions): FakeRun
}

export interface FakeRunOptions {
  readonly cwd?: string
  readonly env?: Readonly<Record<string, string>>
}

export interface FakeRun {
  readonly exitCode: number
  readonly signal: string | null
  readonly pid: number
  readonly stdout: string
  readonly stderr: string
}

/** A checkout of its own with the named files of this one and the real Bun, to try scripts on programs made up. */
export function fakeCheckout(
  files: readonly string[],
  bun: "installed" | "missing" = "installed",
): FakeCheckout {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "acode-checkout-")))
  const place = (path: string) => {
    const target = join(root, path)
    mkdirSync(dirname(target), { recursive: true })
    return target
  }
  for (const file of files) copyFileSync(join(repositoryRoot, file), place(file))
  if (bun === "installed") symlinkSync(join(repositoryRoot, "node_modules/bun"), place("node_modules/bun"))
  return {
    root,
    write: (path, text, mode = 0o644) => {
      const target = place(path)
      writeFileSync(target, text, { mode })
      return target
    },
    run: (argv, options = {}) => {
      const env = { PATH: process.env["PATH"] ?? "", HOME: root, TMPDIR: tmpdir(), ...options.env }
      const child = Bun.spawnSync([...argv], { cwd: options.cwd ?? root, env })
      const signal = child.signalCode === undefined ? null : String(child.signalCode)
      const [stdout, stderr] = [child.stdout.toString(), child.stderr.toString()]
      return { exitCode: child.exitCode, signal, pid: child.pid, stdout, stderr }
    },
    [Symbol.dispose]: () => rmSync(root, { recursive: true, force: true }),
  }
}

/** Files a hostile repository could put where acode is started; each would run code or change names in it. */
export function setTraps(directory: string): void {
  const put = (name: string, text: string) => writeFileSync(join(directory, name), text)
  put("evil.ts", 'process.stdout.write("EVIL RAN")\nexport const answer = 666\n')
  for (const name of [".env", ".env.local", ".env.development", ".env.production"])
    put(name, "EVIL=yes\nBUN_OPTIONS=--preload=./evil.ts\n")
  for (const name of ["bunfig.toml", ".bunfig.toml"]) put(name, 'preload = ["./evil.ts"]\n')
  const paths = { "*": ["./evil.ts"], "./library.ts": ["./evil.ts"] }
  put("tsconfig.json", JSON.stringify({ compilerOptions: { baseUrl: ".", paths } }))
  put("package.json", JSON.stringify({ name: "x", imports: { "#*": "./evil.ts" } }))
}
