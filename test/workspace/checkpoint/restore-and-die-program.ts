import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { systemClock } from "../../../src/base/clock.ts"
import { restoreCheckpoints } from "../../../src/workspace/checkpoint/restore.ts"
import { CheckpointStore } from "../../../src/workspace/checkpoint/store.ts"
import { WorkspaceRoot } from "../../../src/workspace/files/root.ts"
import { Pace } from "../../../src/workspace/pace.ts"
import { roomy } from "./support.ts"

/**
 * ROOT POINT TEXT: restores the checkpoint `one`, of the contents on standard input, and dies when it reaches the
 * point. As soon as the new file is made, TEXT is written into the file `a`.
 */
const [root = "", point = "", text = ""] = process.argv.slice(2)
const store = new CheckpointStore(join(root, ".agent/checkpoints"), roomy, systemClock)
const checkpoint = store.load("one")
if (checkpoint === null) throw new Error("there is no such checkpoint")
const expected = new Map<string, string | null>(JSON.parse(readFileSync(0, "utf8")))
await restoreCheckpoints(
  {
    root: new WorkspaceRoot(root),
    store,
    clock: systemClock,
    pace: new Pace(systemClock),
    readTree: () => Promise.reject(new Error("nobody needs it")),
  },
  [{ checkpoint, expected }],
  { id: "chk_1", about: { kind: "undo", sessionId: null, subjectId: null } },
  work => work(),
  {
    reach: reached => {
      if (reached === "restore.made") writeFileSync(join(root, "a"), text)
      if (reached === point) process.kill(process.pid, "SIGKILL")
    },
  },
)
