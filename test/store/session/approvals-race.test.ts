import { expect, test } from "bun:test"
import { storeChildren } from "../support/children.ts"
import { event, startSession } from "../support/session-events.ts"
import { storeFixture } from "../support/store-fixture.ts"

test("of several processes that answer at once exactly one is heard", async () => {
  using fixture = storeFixture({ onDisk: true })
  const store = fixture.open()
  const session = startSession(store)
  session.append(event.approvalRequested("apr_7", session.id))
  const children = await storeChildren(fixture.directory, "answer", 3, 7)
  const answers = children.map(child => child.answer as { code?: string; answeredBy?: string })
  const heard = answers.filter(({ code }) => code === undefined)
  expect(heard).toHaveLength(1)
  expect(answers.filter(({ code }) => code === "ACODE-APPR-002")).toHaveLength(2)
  expect(store.log.read("apr_7")).toHaveLength(1)
  expect(store.approvals.find("apr_7")).toMatchObject({ state: "granted", answeredBy: heard[0]?.answeredBy })
  expect(store.verify()).toMatchObject({ ok: true })
})
