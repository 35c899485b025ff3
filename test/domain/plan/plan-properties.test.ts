import { describe, expect, test } from "bun:test"
import type { Json } from "../../../src/base/canonical.ts"
import { concreteSteps } from "../../../src/domain/plan/order.ts"
import { planHash } from "../../../src/domain/plan/plan.ts"
import { parsePlanJson } from "../../../src/domain/plan/strict-json.ts"
import { planFile, planOf, readStep, taskFile } from "./plan-kit.ts"

const seed = 20_261_115
const rounds = 200

/** A small generator with a seed, so that a failure can be repeated: the seed stands in the names. */
function seeded(start: number) {
  let state = start >>> 0
  const next = () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
  const below = (count: number) => Math.floor(next() * count)
  const shuffled = <Item>(list: readonly Item[]): Item[] => {
    const items = [...list]
    for (let index = items.length - 1; index > 0; index--) {
      const other = below(index + 1)
      ;[items[index], items[other]] = [items[other] as Item, items[index] as Item]
    }
    return items
  }
  return { below, shuffled }
}
type Random = ReturnType<typeof seeded>

describe(`the hash of a plan (seed ${seed})`, () => {
  test("is the same however keys are ordered and the text is spaced", () => {
    const random = seeded(seed)
    for (let round = 0; round < rounds; round++) {
      const plan = randomPlan(random)
      const text = JSON.stringify(reordered(plan, random), null, random.below(5))
      const spaced = text.replaceAll("\n", "\r\n \t")
      const { value, findings } = parsePlanJson(spaced)
      expect(findings).toEqual([])
      expect(planHash(value), text).toBe(planHash(plan))
    }
  })

  test("is another one after any change of any value, key or order of a list", () => {
    const random = seeded(seed + 1)
    for (let round = 0; round < rounds; round++) {
      const plan = randomPlan(random)
      const places = placesIn(plan)
      const place = places[random.below(places.length)] ?? []
      const changed = changedAt(plan, place, random)
      expect(planHash(changed), JSON.stringify({ place, plan, changed })).not.toBe(planHash(plan))
    }
  })

  test("is another one when two entries of a list change places", () => {
    const random = seeded(seed + 2)
    for (let round = 0; round < rounds; round++) {
      const ids = Array.from({ length: 2 + random.below(6) }, (_, index) => `s${index}`)
      const other = random.shuffled(ids)
      const isSame = ids.every((id, index) => other[index] === id)
      expect(planHash({ steps: ids }) === planHash({ steps: other })).toBe(isSame)
    }
  })
})

describe(`the order of a plan (seed ${seed})`, () => {
  test("puts every step after what it depends on, each exactly once, and changes nothing it need not", () => {
    const random = seeded(seed + 3)
    for (let round = 0; round < rounds; round++) {
      const file = acyclicPlan(random)
      const runnable = concreteSteps(planOf(file))
      const steps = "steps" in runnable ? runnable.steps : []
      const names = steps.map(({ task, step }) => `${task.id}/${step.id}`)
      expect(new Set(names).size).toBe(names.length)
      expect(names.length).toBe(file.tasks.reduce((sum, task) => sum + task.steps.length, 0))
      expect(steps.map(({ index }) => index)).toEqual(names.map((_, index) => index))
      const [tasks, expected] = [[...new Set(steps.map(({ task }) => task.id))], simplest(file.tasks)]
      expect(tasks).toEqual(expected)
      for (const task of file.tasks) {
        const mine = steps.filter(entry => entry.task.id === task.id).map(({ step }) => step.id)
        expect(mine).toEqual(simplest(task.steps))
      }
    }
  })
})

interface Item {
  readonly id: string
  readonly depends_on: readonly string[]
}

/** The definition itself, slow and plain: again and again the first in the file that waits for nothing. */
function simplest(items: readonly Item[]): string[] {
  const order: string[] = []
  while (order.length < items.length) {
    const next = items.find(
      ({ id, depends_on: needed }) => !order.includes(id) && needed.every(other => order.includes(other)),
    )
    if (next === undefined) throw new Error("the generator made a circle")
    order.push(next.id)
  }
  return order
}

function acyclicPlan(random: Random) {
  const tasks = acyclicItems(random, "t", 1 + random.below(5)).map(item => ({
    ...item,
    ...taskFile(
      item.id,
      acyclicItems(random, "s", 1 + random.below(8)).map(step => ({ ...readStep(step.id), ...step })),
    ),
  })) as (Item & { steps: Item[] })[]
  return { ...planFile(tasks), tasks }
}

/** Depends only on what a hidden order has before it, and is then written down in another. */
function acyclicItems(random: Random, prefix: string, count: number): Item[] {
  const hidden = Array.from({ length: count }, (_, index) => `${prefix}${index}`)
  return random.shuffled(
    hidden.map((id, index) => ({
      id,
      depends_on: hidden.slice(0, index).filter(() => random.below(3) === 0),
    })),
  )
}

function randomPlan(random: Random): Json {
  const text = () => ["a", "é", "", "x y", "A", "\n", '"'][random.below(7)] ?? ""
  const args = () =>
    Object.fromEntries(
      Array.from({ length: 1 + random.below(3) }, (_, index) => [
        `k${index}`,
        [text(), random.below(1000), random.below(2) === 0, null, [text()]][random.below(5)] ?? null,
      ]),
    )
  const steps = Array.from({ length: 1 + random.below(4) }, (_, index) => ({
    step_id: `s${index}`,
    tool: "read_file",
    arguments: args(),
    precondition: text(),
    requires_confirmation: random.below(2) === 0,
  }))
  return { plan_id: text(), intent: "READ", steps, evidence_referenced: [text()] }
}

function reordered(value: Json, random: Random): Json {
  if (Array.isArray(value)) return value.map((item: Json) => reordered(item, random))
  if (typeof value !== "object" || value === null) return value
  return Object.fromEntries(
    random.shuffled(Object.entries(value)).map(([key, member]) => [key, reordered(member, random)]),
  )
}

type Place = readonly string[]

function placesIn(value: Json, here: Place = []): Place[] {
  if (typeof value !== "object" || value === null) return [here]
  return [here, ...Object.entries(value).flatMap(([key, member]) => placesIn(member, [...here, key]))]
}

function changedAt(value: Json, [key, ...rest]: Place, random: Random): Json {
  if (key === undefined) return changedValue(value, random)
  const change = (member: Json) => changedAt(member, rest, random)
  if (Array.isArray(value))
    return value.map((item: Json, index) => (String(index) === key ? change(item) : item))
  return Object.fromEntries(
    Object.entries(value ?? {}).map(([name, member]) => [name, name === key ? change(member) : member]),
  )
}

function changedValue(value: Json, random: Random): Json {
  if (typeof value === "string") return [`${value} `, `${value}x`, 0, null, [value]][random.below(5)] ?? null
  if (typeof value === "number")
    return [value + 1, -value - 1, String(value), value + 0.5][random.below(4)] ?? 0
  if (typeof value === "boolean") return [!value, String(value), null][random.below(3)] ?? null
  if (value === null) return ["", 0, false, "null"][random.below(4)] ?? 0
  if (Array.isArray(value)) return random.below(2) === 0 ? [...value, 0] : { list: value }
  const [[first, member] = ["", null], ...others] = Object.entries(value)
  return random.below(2) === 0
    ? Object.fromEntries([[`${first}x`, member], ...others])
    : { ...value, one_more: null }
}
