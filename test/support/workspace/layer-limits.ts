import { openTransactions } from "../../../src/workspace/transaction/transactions.ts"
import { layerWorkspace } from "./killed-merge.ts"
import { exactManifest, manifestDifferences, runInOverlay } from "./overlay-command.ts"

/** Beyond what a process needs that does nothing, for so many changed files. */
const bytesEachMax = 2_500

/**
 * Makes, changes and removes that many files in three transactions and undoes them. Returns what is not as the kernel
 * showed it, or as it was before, and how much memory was too much.
 */
export async function layerLimits(files: number): Promise<readonly string[]> {
  using place = layerWorkspace()
  Bun.spawnSync(["mkdir", "-p", `${place.root}/d`])
  using transactions = openTransactions(place)
  const commands = [
    `perl -e 'for (1..${files}) { open my $f, ">", "d/f$_"; print $f $_ }'`,
    `perl -e 'for (1..${files}) { open my $f, ">>", "d/f$_"; print $f "more" }'`,
    "find d -type f -delete",
  ]
  const violations: string[] = []
  const before = [exactManifest(place.root)]
  const held = process.memoryUsage.rss()
  for (const [index, script] of commands.entries()) {
    using transaction = transactions.begin(`trn_${index}`)
    const { view } = await runInOverlay(transaction.layers, script)
    await transaction.commit(
      () => "merge",
      work => work(),
    )
    const now = exactManifest(place.root)
    violations.push(...manifestDifferences(view, now))
    before.push(now)
  }
  for (let index = commands.length - 1; index >= 0; index--) {
    const { foreign } = await transactions.undo(`trn_${index}`, work => work())
    violations.push(...foreign, ...manifestDifferences(before[index] ?? new Map(), exactManifest(place.root)))
  }
  const bytes = process.memoryUsage.rss() - held
  if (bytes > 150_000_000 + files * bytesEachMax) violations.push(`${bytes} more bytes of memory were held`)
  return violations
}
