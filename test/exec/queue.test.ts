import { describe, expect, test } from "bun:test"
import { type Admission, createQueue, type Queue } from "../../src/exec/queue.ts"
import { fixedClock } from "../support/fixed-clock.ts"

const clock = fixedClock()

/** Enters and must be let in at once. */
async function admitted(queue: Queue, signal?: AbortSignal): Promise<Admission & { kind: "admitted" }> {
  const admission = await queue.enter(signal)
  if (admission.kind !== "admitted") throw new Error(`not admitted: ${admission.kind}`)
  return admission
}

/** What has been settled after everything that could happen by itself has happened. */
async function settledNow(promises: readonly Promise<unknown>[]): Promise<boolean[]> {
  for (let turn = 0; turn < 10; turn++) await Promise.resolve()
  const pending = Symbol("pending")
  return await Promise.all(
    promises.map(async promise => (await Promise.race([promise, Promise.resolve(pending)])) !== pending),
  )
}

describe("a free slot", () => {
  test("is taken at once, without time in the queue", async () => {
    const queue = createQueue({ concurrentMax: 2, queuedMax: 0 }, clock)
    expect(await admitted(queue)).toMatchObject({ queuedMs: 0 })
    expect(await admitted(queue)).toMatchObject({ queuedMs: 0 })
    expect(await queue.enter()).toEqual({ kind: "full" })
  })

  test("can be used again when it has been left", async () => {
    const queue = createQueue({ concurrentMax: 1, queuedMax: 0 }, clock)
    for (let count = 0; count < 3; count++) (await admitted(queue)).leave()
    expect((await queue.enter()).kind).toBe("admitted")
  })

  test("is left once: leaving twice would let one too many in", async () => {
    const { leave } = await admitted(createQueue({ concurrentMax: 1, queuedMax: 0 }, clock))
    leave()
    expect(leave).toThrow("a slot is left once")
  })
})

describe("waiting", () => {
  test("is first come, first served", async () => {
    const queue = createQueue({ concurrentMax: 1, queuedMax: 10 }, clock)
    const order: number[] = []
    const first = await admitted(queue)
    const others = [1, 2, 3, 4].map(async number => {
      const { leave } = await admitted(queue)
      order.push(number)
      leave()
    })
    first.leave()
    await Promise.all(others)
    expect(order).toEqual([1, 2, 3, 4])
  })

  test("cannot be overtaken by somebody who comes just when a slot is left", async () => {
    const queue = createQueue({ concurrentMax: 1, queuedMax: 10 }, clock)
    const first = await admitted(queue)
    const waiting = queue.enter()
    first.leave()
    const newcomer = queue.enter()
    expect(await settledNow([waiting, newcomer])).toEqual([true, false])
  })

  test("is measured by the clock", async () => {
    const queue = createQueue({ concurrentMax: 1, queuedMax: 1 }, clock)
    const first = await admitted(queue)
    const waiting = admitted(queue)
    clock.advance(1234)
    first.leave()
    expect((await waiting).queuedMs).toBe(1234)
  })

  test("is bounded: more are turned away, and let wait again when the queue is shorter", async () => {
    const queue = createQueue({ concurrentMax: 1, queuedMax: 2 }, clock)
    const first = await admitted(queue)
    const waiting = [admitted(queue), admitted(queue)]
    expect(await queue.enter()).toEqual({ kind: "full" })
    first.leave()
    const next = queue.enter()
    expect(await settledNow([...waiting, next])).toEqual([true, false, false])
  })

  test("never lets more in than there are slots", async () => {
    const queue = createQueue({ concurrentMax: 4, queuedMax: 1000 }, clock)
    let inside = 0
    let most = 0
    const one = async () => {
      const { leave } = await admitted(queue)
      inside += 1
      most = Math.max(most, inside)
      await Promise.resolve()
      inside -= 1
      leave()
    }
    await Promise.all(Array.from({ length: 200 }, one))
    expect({ inside, most }).toEqual({ inside: 0, most: 4 })
  })
})

describe("cancelling", () => {
  test("before entering gives no slot", async () => {
    const queue = createQueue({ concurrentMax: 1, queuedMax: 1 }, clock)
    expect(await queue.enter(AbortSignal.abort())).toEqual({ kind: "cancelled", queuedMs: 0 })
    expect((await queue.enter()).kind).toBe("admitted")
  })

  test("while waiting ends the wait and makes room behind it", async () => {
    const queue = createQueue({ concurrentMax: 1, queuedMax: 1 }, clock)
    const first = await admitted(queue)
    const controller = new AbortController()
    const waiting = queue.enter(controller.signal)
    clock.advance(50)
    controller.abort()
    expect(await waiting).toEqual({ kind: "cancelled", queuedMs: 50 })
    const next = queue.enter()
    first.leave()
    expect((await next).kind).toBe("admitted")
  })

  test("after being let in changes nothing here: whoever runs must end by itself", async () => {
    const queue = createQueue({ concurrentMax: 1, queuedMax: 1 }, clock)
    const controller = new AbortController()
    const first = await admitted(queue)
    const second = queue.enter(controller.signal)
    first.leave()
    controller.abort()
    expect((await second).kind).toBe("admitted")
    const third = queue.enter()
    expect(await settledNow([third])).toEqual([false])
  })

  test("of many at once lets exactly the others in", async () => {
    const queue = createQueue({ concurrentMax: 2, queuedMax: 100 }, clock)
    const controllers = Array.from({ length: 40 }, () => new AbortController())
    const entries = controllers.map(async ({ signal }) => {
      const admission = await queue.enter(signal)
      if (admission.kind === "admitted") admission.leave()
      return admission.kind
    })
    controllers.forEach((controller, index) => {
      if (index >= 2 && index % 2 === 0) controller.abort()
    })
    const kinds = await Promise.all(entries)
    expect(kinds.filter(kind => kind === "cancelled")).toHaveLength(19)
    expect(kinds.filter(kind => kind === "admitted")).toHaveLength(21)
  })
})

test("more than 16 at a time are never allowed, nor fewer than one", () => {
  for (const concurrentMax of [0, 17, -1])
    expect(() => createQueue({ concurrentMax, queuedMax: 1 }, clock)).toThrow(
      "1 to 16 executions run at a time",
    )
})
