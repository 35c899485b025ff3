import { expect, test } from "bun:test"
import { rmSync, utimesSync } from "node:fs"
import { exactManifest, manifestDifferences } from "../../support/workspace/overlay-command.ts"
import { layerRoom } from "./support.ts"

test("a manifest notices type, mode, time and content", () => {
  using room = layerRoom({ a: "1\n", b: "1\n", c: "1\n" })
  const before = room.manifest()
  utimesSync(room.at("a"), 1, 1)
  Bun.spawnSync(["chmod", "600", room.at("b")])
  rmSync(room.at("c"))
  expect(manifestDifferences(before, exactManifest(room.root)).map(line => line.slice(0, 3))).toEqual([
    '"a"',
    '"b"',
    '"c"',
  ])
})
