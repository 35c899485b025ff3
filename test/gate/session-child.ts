import { driveSession } from "../../src/gate/session-log.ts"
import { openStore } from "../../src/store/open-store.ts"
import { processIdentity } from "../../src/store/process-identity.ts"
import { event } from "../store/support/session-events.ts"
import { storeOptions } from "../store/support/store-fixture.ts"

/** Drives a session of the workspace in DIRECTORY, says so, and goes on until it is killed. */
const [directory = "", sessionId = ""] = process.argv.slice(2)
const store = openStore(storeOptions(directory))
const session = driveSession({ log: store.log, leases: store.leases, owner: processIdentity() }, sessionId)
session.append([event.sessionStarted()])
process.stdout.write("driving\n")
setInterval(() => undefined, 1_000)
