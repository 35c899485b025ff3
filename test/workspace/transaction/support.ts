import { chmodSync, lstatSync, mkdirSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import type {
  Change,
  CommitOptions,
  CommitResult,
  Decide,
} from "../../../src/workspace/transaction/contract.ts"
import { openTransactions, type TransactionDeps } from "../../../src/workspace/transaction/transactions.ts"
import { layerWorkspace } from "../../support/workspace/killed-merge.ts"
import { type ExactManifest, exactManifest, runInOverlay } from "../../support/workspace/overlay-command.ts"

export const owned = <Result>(work: () => Result): Result => work()
export const mergeAll: Decide = () => "merge"

/** Returns the names of the attributes of everything below a directory, as perl's own call of the system has them. */
export function attributesBelow(root: string): string {
  const call = process.arch === "arm64" ? 12 : 195
  const program = `for (@ARGV) { my $list = "\\0" x 4096; my $n = syscall(${call}, $_, $list, 4096);
    print substr($list, 0, $n) if $n > 0 }`
  return Bun.spawnSync(["find", root, "-exec", "perl", "-e", program, "{}", "+"]).stdout.toString()
}

export interface LayerRoom extends Disposable {
  readonly root: string
  readonly directory: string
  readonly transactions: ReturnType<typeof openTransactions>
  at(path: string): string
  write(path: string, content: string): void
  manifest(): ExactManifest
  ino(path: string): number
  /** Runs a command in a transaction, does something as another program when it has ended, and merges. */
  run(script: string, options?: RunOptions): Promise<RanCommand>
}

export interface RunOptions extends CommitOptions {
  readonly meanwhile?: () => void
  readonly decide?: Decide
}

export interface RanCommand extends CommitResult {
  readonly id: string
  readonly view: ExactManifest
  readonly exitCode: number | null
  readonly changes: readonly Change[]
}

/** A workspace of some files with transactions of its own. */
export function layerRoom(
  files: Readonly<Record<string, string>>,
  deps: Partial<TransactionDeps> = {},
): LayerRoom {
  const place = layerWorkspace()
  const at = (path: string) => join(place.root, path)
  const write = (path: string, content: string) => {
    mkdirSync(dirname(at(path)), { recursive: true })
    writeFileSync(at(path), content)
  }
  for (const [path, content] of Object.entries(files)) write(path, content)
  chmodSync(place.root, 0o755)
  const transactions = openTransactions({ ...place, ...deps })
  let serial = 0
  return {
    ...place,
    transactions,
    at,
    write,
    manifest: () => exactManifest(place.root),
    ino: path => lstatSync(at(path)).ino,
    run: async (script, { meanwhile, decide = mergeAll, ...options } = {}) => {
      const id = `trn_${serial++}`
      using transaction = transactions.begin(id)
      const { view, exitCode } = await runInOverlay(transaction.layers, script)
      meanwhile?.()
      const { changes } = await transaction.changes()
      return { id, view, exitCode, changes, ...(await transaction.commit(decide, owned, options)) }
    },
    [Symbol.dispose]: () => {
      transactions[Symbol.dispose]()
      place[Symbol.dispose]()
    },
  }
}
