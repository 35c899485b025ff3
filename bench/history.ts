import { Database } from "bun:sqlite"
import type { Store } from "../src/store/contract.ts"
import { changing, event, startSession } from "../test/store/support/session-events.ts"
import { openTempStore } from "../test/support/workspace/temp-store.ts"
import { tempWorkspace } from "../test/support/workspace/temp-workspace.ts"
import { computed } from "./measure.ts"
import { atMost, type Figure, timesFloor } from "./report.ts"

const callCount = 2_500
const eventCount = 4 * callCount

/** Measures verifying the history of a session before an action. */
export function historyFigures(): Figure[] {
  using workspace = tempWorkspace()
  using store = openTempStore(workspace)
  const session = longSession(store)
  using database = new Database(workspace.state("workspace.db"), { readonly: true })
  const rows = database.query<{ data: string }, [string]>(
    "SELECT * FROM events WHERE stream = ? ORDER BY seq",
  )
  const verifiedMs = computed(9, () => store.assertGenuine(session)).p50
  const readMs = computed(9, () => {
    for (const { data } of rows.all(session)) JSON.parse(data)
  }).p50
  const name = `a session of ${eventCount} events, verified on load`
  return [atMost(name, verifiedMs, 150), timesFloor(`${name}, against reading it`, verifiedMs, readMs, 6)]
}

/** Calls that write files, with events as long as they are on average. */
function longSession(store: Store): string {
  const session = startSession(store, { stepCount: callCount })
  const message = "x".repeat(600)
  for (let index = 0; index < callCount; index++) {
    const id = `cal_${index}`
    session.append(
      event.callRequested(id),
      event.callStarted(id, { effectClass: "replace" }),
      event.callSettled(id, changing(`src/${index % 300}.ts`)),
      event.stepFinished({ index, message }),
    )
  }
  store.anchor()
  return session.id
}
