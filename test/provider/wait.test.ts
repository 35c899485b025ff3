import { describe, expect, test } from "bun:test"
import { timerWait } from "../../src/provider/wait.ts"
import { never } from "./provider-kit.ts"

describe("waiting", () => {
  test("is over when the time is", async () => {
    const began = performance.now()
    await timerWait(20, never)
    expect(performance.now() - began).toBeGreaterThanOrEqual(15)
  })

  test("is over at once when there is nothing to wait for, or no one any more", async () => {
    await timerWait(0, never)
    await timerWait(-1, never)
    await timerWait(3_600_000, AbortSignal.abort())
  })

  test("is broken off by the signal, which is not listened to afterwards", async () => {
    const stopping = new AbortController()
    const listening = new Set<unknown>()
    const { signal } = stopping
    const add = signal.addEventListener.bind(signal)
    const remove = signal.removeEventListener.bind(signal)
    signal.addEventListener = (type: string, listener: () => void) => {
      listening.add(listener)
      add(type, listener)
    }
    signal.removeEventListener = (type: string, listener: () => void) => {
      listening.delete(listener)
      remove(type, listener)
    }
    await timerWait(1, signal)
    expect(listening.size).toBe(0)
    const waiting = timerWait(3_600_000, signal)
    expect(listening.size).toBe(1)
    stopping.abort()
    await waiting
    expect(listening.size).toBe(0)
  })
})
