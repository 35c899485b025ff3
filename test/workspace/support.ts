import { chmodSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { Failure } from "../../src/domain/failure.ts"
import type { PathGuard } from "../../src/workspace/contract.ts"
import { WorkspaceRoot } from "../../src/workspace/files/root.ts"

/** A workspace in a directory of its own, with an outside next to it that nothing may touch. */
export interface TestWorkspace extends Disposable {
  readonly base: string
  readonly root: WorkspaceRoot
  readonly outside: string
  path(relative: string): string
  put(relative: string, content?: string | Uint8Array, mode?: number): void
  read(relative: string): string
}

export function testWorkspace(guard?: PathGuard): TestWorkspace {
  const base = realpathSync(mkdtempSync(join(tmpdir(), "acode-ws-")))
  const outside = join(base, "outside")
  mkdirSync(join(base, "ws"))
  mkdirSync(outside)
  writeFileSync(join(outside, "secret.txt"), "OUTSIDE\n")
  const root = new WorkspaceRoot(join(base, "ws"), guard)
  const path = (relative: string) => join(base, "ws", relative)
  return {
    base,
    root,
    outside,
    path,
    put: (relative, content = "", mode) => {
      mkdirSync(dirname(path(relative)), { recursive: true })
      writeFileSync(path(relative), content)
      if (mode !== undefined) chmodSync(path(relative), mode)
    },
    read: relative => readFileSync(path(relative), "utf8"),
    [Symbol.dispose]: () => {
      root[Symbol.dispose]()
      rmSync(base, { recursive: true, force: true })
    },
  }
}

/** The code of the failure that `step` ends with, or `none`. Anything else that is thrown goes on. */
export function codeOf(step: () => unknown): string {
  return reportOf(step)?.code ?? "none"
}

/** The same for work that takes its time. */
export async function codeOfLater(step: () => Promise<unknown>): Promise<string> {
  const failure = await step().then(
    () => null,
    (error: unknown) => error,
  )
  return codeOf(() => {
    if (failure !== null) throw failure
  })
}

export function messageOf(step: () => unknown): string {
  return reportOf(step)?.message ?? ""
}

function reportOf(step: () => unknown) {
  try {
    step()
    return null
  } catch (error) {
    if (error instanceof Failure) return error.report
    throw error
  }
}

/** Numbers that look random and are the same each time. */
export function seeded(seed: number): (below: number) => number {
  let state = seed >>> 0
  return below => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
}
