import { mkdirSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { Failure } from "../../../src/domain/failure.ts"
import { openTransactions } from "../../../src/workspace/transaction/transactions.ts"
import { exactManifest, manifestDifferences, runInOverlay } from "../../support/workspace/overlay-command.ts"
import { mergeAll, owned } from "./support.ts"

/** Merges on a small disk that is full, and again when there is space. Prints what came of it. */
const disk = process.argv[2] ?? ""
const root = join(disk, "workspace")
mkdirSync(root)
writeFileSync(join(root, "a"), "0\n")
using transactions = openTransactions({ root, directory: join(disk, "layers") })
const before = exactManifest(root)
const full = transactions.begin("trn_full")
await runInOverlay(full.layers, "echo 1 > a; echo 1 > b")
const ballast = join(disk, "ballast")
Bun.spawnSync(["sh", "-c", 'cat /dev/zero > "$0" 2>/dev/null', ballast])
let error: string | null = null
try {
  await full.commit(mergeAll, owned)
} catch (thrown) {
  error = thrown instanceof Failure ? thrown.report.code : String(thrown)
}
const differences = manifestDifferences(before, exactManifest(root))
full.discard()
const left = transactions.ids()
rmSync(ballast)
using again = transactions.begin("trn_again")
await runInOverlay(again.layers, "echo 1 > a")
const { merged } = await again.commit(mergeAll, owned)
process.stdout.write(JSON.stringify({ error, differences, left, merged: merged.map(({ path }) => path) }))
