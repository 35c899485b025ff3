import { afterEach, expect, test } from "bun:test"
import { fold } from "../../src/domain/pipeline/fold.ts"
import { openLiveSession } from "../../src/engine/live-session.ts"
import type { EventLog, StoredEvent } from "../../src/store/contract.ts"
import { type AgentRoom, agentRoom } from "../support/agent/agent-room.ts"
import { greeting } from "../support/script-replies.ts"

let room: AgentRoom | null = null
afterEach(() => {
  room?.[Symbol.dispose]()
  room = null
})

const contents = {
  text: (recorded: { readonly kind: string; readonly text?: string }) => recorded.text ?? "",
  json: (recorded: { readonly kind: string; readonly value?: unknown }) => recorded.value ?? null,
} as Parameters<typeof openLiveSession>[2]

/** A log that holds these events; what is added to the list is in it. */
function logOf(events: readonly StoredEvent[]): Pick<EventLog, "each"> {
  return { each: () => events }
}

test("the state of a live session is at every event what a fold of its log says", async () => {
  room = await agentRoom(greeting())
  await room.drive()
  const all = room.events()
  const seen: string[] = []
  const held = all.slice(0, 1)
  const live = openLiveSession(
    {
      sessionId: room.sessionId,
      append: added => {
        const stored = all.slice(held.length, held.length + added.length)
        held.push(...stored)
        return stored
      },
      whileOwned: work => work(),
      release: () => undefined,
    },
    logOf(held),
    contents,
    ({ type }) => void seen.push(type),
  )
  for (const [index, event] of all.entries()) {
    if (index > 0) live.append([event])
    expect(live.state).toEqual(fold(all.slice(0, index + 1), contents) ?? live.state)
  }
  expect([...live.events]).toEqual([...all])
  expect(live.lastType).toBe(all.at(-1)?.type ?? "")
  expect(seen).toEqual(all.slice(1).map(({ type }) => type))
})

test("nothing is in the state that could not be appended", async () => {
  room = await agentRoom(greeting())
  await room.drive()
  const all = room.events()
  const live = openLiveSession(
    {
      sessionId: room.sessionId,
      append: () => {
        throw new Error("another process drives it now")
      },
      whileOwned: work => work(),
      release: () => undefined,
    },
    logOf(all.slice(0, 3)),
    contents,
    () => undefined,
  )
  const before = live.state
  expect(() => live.append(all.slice(3, 4))).toThrow("another process drives it now")
  expect(live.state).toBe(before)
  expect([...live.events]).toHaveLength(3)
})

test("a session that has not started has no state", () => {
  const live = openLiveSession(
    { sessionId: "ses_1", append: () => [], whileOwned: work => work(), release: () => undefined },
    logOf([]),
    contents,
    () => undefined,
  )
  expect(() => live.state).toThrow("a live session has started")
})
