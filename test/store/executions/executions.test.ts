import { describe, expect, test } from "bun:test"
import { readdirSync, readFileSync, rmSync } from "node:fs"
import { join } from "node:path"
import { recordPoints } from "../../support/crash/record-points.ts"
import { codeOf, hides, nextId, recordOf, runOne, startOf, storeFixture } from "../support/store-fixture.ts"

const nothing = { stdout: null, stderr: null }
const bytes = (text: string) => new TextEncoder().encode(text)

describe("an execution", () => {
  test("is a stream of two events: that it starts, and how it ended", () => {
    using fixture = storeFixture()
    const store = fixture.open()
    const id = nextId()
    store.executions.started(startOf(id))
    expect(store.log.read(id).map(event => event.data)).toEqual([JSON.parse(JSON.stringify(startOf(id)))])
    store.executions.settled(recordOf(id), nothing)
    expect(store.log.read(id).map(({ seq, type, epoch }) => [seq, type, epoch])).toEqual([
      [1, "command.started", 1],
      [2, "command.finished", 1],
    ])
  })

  test("costs two commits", () => {
    using fixture = storeFixture()
    const points: string[] = []
    const store = fixture.open({ faults: recordPoints(points) })
    points.length = 0
    runOne(store)
    expect(points.filter(point => point.endsWith(".committed"))).toEqual([
      "started.committed",
      "finished.committed",
    ])
  })

  test("gives its lease back when it ends", () => {
    using fixture = storeFixture()
    const store = fixture.open()
    const id = nextId()
    store.executions.started(startOf(id))
    expect(store.leases.acquire(id, fixture.options.self)).toBeNull()
    store.executions.settled(recordOf(id), nothing)
    expect(codeOf(() => store.log.append(id, 2, 1, []))).toBe("ACODE-DB-007")
  })

  test("stores its artifacts before the event that names them", () => {
    using fixture = storeFixture()
    const points: string[] = []
    const store = fixture.open({ faults: recordPoints(points) })
    const id = nextId()
    store.executions.started(startOf(id))
    points.length = 0
    store.executions.settled(recordOf(id, { result: { stdout: "x".repeat(20_000) } }), nothing)
    expect(points).toEqual([
      "artifact.synced",
      "artifact.renamed",
      "finished.begun",
      "finished.written",
      "finished.committed",
    ])
  })

  test("can be closed with the event itself", () => {
    using fixture = storeFixture()
    const store = fixture.open()
    const id = nextId()
    const record = recordOf(id)
    store.executions.started(startOf(id))
    store.executions.finished({
      executionId: id,
      result: {
        ...record.result,
        stdout: { kind: "inline", text: record.result.stdout },
        stderr: { kind: "inline", text: record.result.stderr },
      },
    })
    expect(store.executions.show(id)).toEqual(record)
  })

  test("keeps its output out of the history when that is configured", () => {
    using fixture = storeFixture()
    const store = fixture.open({ includeOutput: false })
    const id = runOne(store, { result: { stdout: "x".repeat(20_000) } })
    expect(store.executions.show(id)?.result.stdout).toBe("")
    expect(store.executions.stats().artifactCount).toBe(0)
  })
})

describe("an execution is refused", () => {
  test("when its id is taken", () => {
    using fixture = storeFixture()
    const store = fixture.open()
    const id = runOne(store)
    expect(codeOf(() => store.executions.started(startOf(id)))).toBe("ACODE-DB-007")
    expect(store.verify()).toMatchObject({ ok: true, events: 2 })
  })

  test("an end without a start, and a second end", () => {
    using fixture = storeFixture()
    const store = fixture.open()
    expect(codeOf(() => store.executions.settled(recordOf("exe_nobody"), nothing))).toBe("ACODE-DB-007")
    const id = runOne(store)
    expect(codeOf(() => store.executions.settled(recordOf(id), nothing))).toBe("ACODE-DB-007")
  })

  test("an end that comes after another process has closed it as interrupted", () => {
    using fixture = storeFixture()
    const [slow, other] = [fixture.open(), fixture.open()]
    const id = nextId()
    slow.executions.started(startOf(id))
    expect(other.executions.recover(() => false)).toEqual([id])
    expect(codeOf(() => slow.executions.settled(recordOf(id), nothing))).toBe("ACODE-DB-007")
    expect(other.executions.show(id)?.result.ending).toBe("interrupted")
    expect(other.verify().ok).toBe(true)
  })
})

describe("artifacts that a prune takes away between the write and the commit", () => {
  test("are stored once more", () => {
    using fixture = storeFixture()
    const store = fixture.open()
    const id = nextId()
    const change = { result: { stdout: "y".repeat(20_000) } }
    store.executions.started(startOf(id))
    let isFirst = true
    const racing = fixture.open({
      faults: {
        reach: point => {
          if (point === "finished.begun" && isFirst)
            rmSync(fixture.options.artifactsDirectory, { recursive: true })
          if (point === "finished.begun") isFirst = false
        },
      },
    })
    const late = nextId()
    racing.executions.started(startOf(late))
    racing.executions.settled(recordOf(late, change), nothing)
    expect(racing.executions.show(late)).toEqual(recordOf(late, change))
    expect(store.verify().ok).toBe(true)
  })
})

describe("secrets", () => {
  test("are in no file of the workspace, whatever way they came in", () => {
    using fixture = storeFixture()
    const secret = "correct-horse-battery"
    const store = fixture.open({ redactor: hides(secret), inlineBytesMax: 100 })
    const id = nextId()
    const change = {
      command: { executable: secret, arguments: [`--token=${secret}`], environment: { [secret]: secret } },
      correlationIds: { runId: `run_${secret}` },
    }
    store.executions.started(startOf(id, change))
    const ref = store.artifacts.put(bytes(`all of ${secret}`))
    const record = recordOf(id, {
      ...change,
      result: {
        stdout: `${secret} `.repeat(50),
        stderr: secret,
        artifacts: { stdout: ref, stderr: null },
        error: { code: "ACODE-EXE-003", message: `it said ${secret}`, details: { [secret]: secret } },
        sandbox: { kind: "bwrap", network: "none", quarantined: [secret] },
      },
    })
    store.executions.settled(record, { stdout: bytes(`all of ${secret}`), stderr: null })
    store.executions.recover(() => false)
    store.executions.prune({}, `because of ${secret}`)
    const files = readdirSync(fixture.directory, { recursive: true, withFileTypes: true })
      .filter(entry => entry.isFile())
      .map(entry => join(entry.parentPath, entry.name))
    expect(files.some(file => file.endsWith("-wal"))).toBe(true)
    expect(files.filter(file => readFileSync(file).includes(secret))).toEqual([])
  })
})
