import { expect } from "bun:test"
import { lstatSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { openTransactions } from "../../../src/workspace/transaction/transactions.ts"
import { confinementOf, openRoom, run, sandboxKinds, sh } from "../../sandbox/room.ts"
import { testWhere } from "../../support/requirement.ts"
import { exactManifest, manifestDifferences } from "../../support/workspace/overlay-command.ts"
import { owned } from "./support.ts"

for (const { kind, missing } of sandboxKinds.filter(each => each.kind === "native" || each.kind === "perl"))
  testWhere(missing)(`the changes of a confined command are merged and undone (${kind})`, async () => {
    const room = openRoom({}, kind)
    try {
      room.write("src/a", "before")
      room.write("gone/x", "before")
      room.write(".git/config", "[core]")
      using transactions = openTransactions({ root: room.root, directory: join(room.base, "layers") })
      const before = exactManifest(room.root)
      const timeOfNames = () => lstatSync(room.root, { bigint: true }).ctimeNs
      const namesBefore = timeOfNames()
      using transaction = transactions.begin("trn_confined")
      const script =
        "echo after > src/a; mv gone here 2>/dev/null || { cp -r gone here; rm -r gone; }; mkdir -p .vscode n/m; " +
        "echo x > .vscode/settings.json; echo y > n/m/f; cat src/a"
      const ran = await sh(room, script, { layers: transaction.layers })
      expect([ran.tree.startFailure?.()?.report ?? null, ran.stdout]).toEqual([null, "after\n"])
      expect(manifestDifferences(before, exactManifest(room.root))).toEqual([])
      // Not even a placeholder was there for a moment.
      expect(timeOfNames()).toBe(namesBefore)
      const result = await transaction.commit(
        ({ path }) => (path.startsWith(".vscode") ? "refuse" : "merge"),
        owned,
      )
      expect(result.merged.map(({ path }) => path).sort()).toEqual(["gone", "here", "n", "src/a"])
      expect(readFileSync(join(room.root, "src/a"), "utf8")).toBe("after\n")
      expect(exactManifest(room.root).has(".vscode")).toBe(false)
      transaction[Symbol.dispose]()
      expect((await transactions.undo("trn_confined", owned)).foreign).toEqual([])
      expect(manifestDifferences(before, exactManifest(room.root))).toEqual([])
    } finally {
      room.remove()
    }
  })

for (const { kind, missing } of sandboxKinds.filter(each => each.kind === "native" || each.kind === "perl"))
  testWhere(missing)(
    `a protected name that another program makes beside a layer stays (${kind})`,
    async () => {
      const room = openRoom({}, kind)
      try {
        using transactions = openTransactions({ root: room.root, directory: join(room.base, "layers") })
        using transaction = transactions.begin("trn_beside")
        const launch = await room.sandbox.prepare({
          ...confinementOf(room, ["/bin/sh", "-c", "mkdir .vscode; echo x > .vscode/tasks.json"]),
          layers: transaction.layers,
        })
        room.write(".vscode/settings.json", "theirs")
        const ran = await run({ sandbox: { kind, prepare: async () => launch } }, confinementOf(room, []))
        expect(ran.report).toEqual({ quarantined: [], quarantine: null })
        expect(readFileSync(join(room.root, ".vscode/settings.json"), "utf8")).toBe("theirs")
      } finally {
        room.remove()
      }
    },
  )
