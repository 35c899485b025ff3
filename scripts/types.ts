import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"

/**
 * Writes the type declarations of `src/library.ts` to `dist/types`, for the package: a program that uses acode must not
 * check acode's source with its own compiler options. Only files that the exported types need are kept.
 */
const root = join(import.meta.dirname, "..")
const target = join(root, "dist/types")
const work = mkdtempSync(join(tmpdir(), "acode-types-"))
try {
  emit()
  rmSync(target, { recursive: true, force: true })
  keep("library.d.ts", new Set())
} finally {
  rmSync(work, { recursive: true })
}

function emit(): void {
  const compilerOptions = {
    noCheck: true,
    declaration: true,
    emitDeclarationOnly: true,
    noEmit: false,
    rootDir: join(root, "src"),
    outDir: work,
    typeRoots: [join(root, "node_modules/@types")],
  }
  const settings = {
    extends: join(root, "tsconfig.json"),
    compilerOptions,
    include: [],
    files: [join(root, "src/library.ts")],
  }
  writeFileSync(join(work, "tsconfig.json"), JSON.stringify(settings))
  const compiler = join(root, "node_modules/typescript/bin/tsc")
  const { exitCode, stdout } = Bun.spawnSync([process.execPath, compiler, "-p", work])
  if (exitCode !== 0) throw new Error(`tsc: ${stdout.toString()}`)
}

/** Copies a declaration file and those that it imports. */
function keep(file: string, kept: Set<string>): void {
  if (kept.has(file)) return
  kept.add(file)
  mkdirSync(dirname(join(target, file)), { recursive: true })
  copyFileSync(join(work, file), join(target, file))
  for (const [, path = ""] of readFileSync(join(work, file), "utf8").matchAll(/["'](\.[^"']+)\.ts["']/g))
    keep(join(dirname(file), `${path}.d.ts`), kept)
}
