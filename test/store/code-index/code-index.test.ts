import { Database } from "bun:sqlite"
import { afterEach, beforeEach, describe, expect, test } from "bun:test"
import { chmodSync, copyFileSync, existsSync, mkdirSync, truncateSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import fc from "fast-check"
import { noFaults } from "../../../src/base/faults.ts"
import type { CodeReferences, CodeSymbol, FileFacts } from "../../../src/domain/code/symbol.ts"
import {
  type CodeIndexOptions,
  openCodeIndex,
  openCodeIndexWriter,
} from "../../../src/store/code-index/code-index.ts"
import type { CodeIndexWriter } from "../../../src/store/code-index/contract.ts"
import { type TempWorkspace, tempWorkspace } from "../../support/workspace/temp-workspace.ts"

let workspace: TempWorkspace
let options: CodeIndexOptions
beforeEach(() => {
  workspace = tempWorkspace()
  options = { path: join(workspace.outside, "code.db"), parserVersion: "1", faults: noFaults }
})
afterEach(() => workspace[Symbol.dispose]())

function opened(more: Partial<CodeIndexOptions> = {}, isRebuilt = false): CodeIndexWriter {
  const writer = openCodeIndexWriter({ ...options, ...more }, isRebuilt)
  if (writer === null) throw new Error("another writer has it")
  return writer
}

function factsOf(names: readonly string[], seed = 0): FileFacts {
  const symbols = names.map(
    (name, index): CodeSymbol => ({
      name,
      kind: "function",
      byteStart: index * 10,
      byteEnd: index * 10 + 5,
      lineStart: index + 1,
      lineEnd: index + 1,
      container: index % 2 === 0 ? null : "Outer",
      signature: `function ${name}()`,
    }),
  )
  const references = [...new Set(names)].map((name, index): CodeReferences => {
    const places = [0, 1, 500, 100_000_000].map(offset => ({
      byteStart: offset + index + seed,
      line: offset + 1,
    }))
    return { name, places }
  })
  return { kind: "parsed", language: "javascript", symbols, references, errorCount: seed }
}

const fileOf = (path: string, facts: FileFacts) => ({ path, sha256: `${path}-hash`, facts })

describe("the index", () => {
  test("answers as a plain map does, whatever was written, replaced and removed before", () => {
    const names = fc.array(fc.constantFrom("a", "b", "größe", "🎉", "constructor", "x'y\"z%_"), {
      maxLength: 6,
    })
    const change = fc.record({
      path: fc.constantFrom("a.js", "src/b.js", "src/ü.js"),
      names,
      isRemoved: fc.boolean(),
    })
    fc.assert(
      fc.property(fc.array(change, { maxLength: 12 }), changes => {
        using writer = opened({}, true)
        const model = new Map<string, FileFacts>()
        for (const [seed, { path, names: given, isRemoved }] of changes.entries()) {
          const facts = factsOf(given, seed)
          writer.update(isRemoved ? [] : [fileOf(path, facts)], isRemoved ? [path] : [])
          if (isRemoved) model.delete(path)
          else model.set(path, facts)
        }
        const paths = [...model.keys()].sort()
        expect([...writer.files().keys()].sort()).toEqual(paths)
        for (const path of paths) expect(writer.symbolsIn(path)).toEqual(model.get(path)?.symbols ?? [])
        for (const name of ["a", "größe", "🎉", "constructor", "x'y\"z%_", "%"]) {
          const expected = paths.flatMap(path => {
            const found = model.get(path)?.references.find(each => each.name === name)
            return found === undefined ? [] : [{ path, places: found.places }]
          })
          expect(writer.references(name)).toEqual(expected)
          const defined = paths.flatMap(path =>
            (model.get(path)?.symbols ?? [])
              .filter(each => each.name === name)
              .map(symbol => ({ path, symbol })),
          )
          expect(writer.symbolsNamed(name)).toEqual(defined)
        }
      }),
      { numRuns: 40, seed: 7 },
    )
  })

  test("is of one writer, and readers do not wait for it", () => {
    const first = opened()
    first.update([fileOf("a.js", factsOf(["a"]))], [])
    expect(openCodeIndexWriter(options, false)).toBeNull()
    using reader = openCodeIndex(options)
    expect(reader?.symbolsNamed("a")).toHaveLength(1)
    first[Symbol.dispose]()
    using second = opened()
    expect(second.files().size).toBe(1)
  })

  test("ranks a symbol by the other files that use its name", () => {
    using writer = opened()
    const uses: FileFacts = { ...factsOf(["own"]), references: factsOf(["a", "own"]).references }
    writer.update([fileOf("a.js", factsOf(["a", "b"])), fileOf("b.js", uses), fileOf("c.js", uses)], [])
    const ranks = writer.ranked("a").map(({ symbol, usesElsewhere }) => [symbol.name, usesElsewhere])
    expect(ranks).toEqual([
      ["a", 2],
      ["b", 0],
    ])
  })
})

describe("an index that cannot be used", () => {
  const damages: readonly (readonly [string, () => void])[] = [
    ["is truncated", () => truncateSync(options.path, 5000)],
    [
      "is something else",
      () => writeFileSync(options.path, "not a database, and longer than a header of one".repeat(9)),
    ],
    ["is empty", () => writeFileSync(options.path, "")],
    ["lost a table", () => sql("DROP TABLE uses")],
    ["is of another acode", () => sql("PRAGMA user_version = 12345")],
    [
      "is a directory",
      () => {
        removeIndex()
        mkdirSync(options.path)
      },
    ],
  ]
  function sql(statement: string): void {
    using db = new Database(options.path)
    db.run(statement)
  }
  function removeIndex(): void {
    for (const end of ["", "-wal", "-shm"]) Bun.spawnSync(["rm", "-f", `${options.path}${end}`])
  }

  test.each(damages)("because it %s is made anew", (_, damage) => {
    {
      using writer = opened()
      writer.update([fileOf("a.js", factsOf(["a"]))], [])
    }
    damage()
    {
      using writer = openedAfterDamage()
      writer.update([fileOf("b.js", factsOf(["b"]))], [])
      expect([...writer.files().keys()]).toContain("b.js")
    }
    using reader = openCodeIndex(options)
    expect(reader?.symbolsNamed("b")).toHaveLength(1)
  })

  /** A lost table shows only when it is asked for; acode then makes the index anew. */
  function openedAfterDamage(): CodeIndexWriter {
    const writer = opened()
    try {
      writer.references("a")
      return writer
    } catch {
      // The question failed, which is what a lost table does.
      writer[Symbol.dispose]()
      return opened({}, true)
    }
  }

  test("because its grammars are of another version is no index to a reader", () => {
    opened()[Symbol.dispose]()
    expect(openCodeIndex({ ...options, parserVersion: "2" })).toBeNull()
    using reader = openCodeIndex(options)
    expect(reader?.files().size).toBe(0)
  })
})

test("killed at any point the index opens, holds whole commits alone and goes on", () => {
  const images: string[] = []
  const faults = {
    // What the kernel holds at this moment is what a killed process leaves behind.
    reach: (point: string) => {
      const image = join(workspace.outside, "images", `${images.length}-${point}`)
      mkdirSync(image, { recursive: true })
      for (const end of ["", "-wal"])
        if (existsSync(`${options.path}${end}`))
          copyFileSync(`${options.path}${end}`, join(image, `code.db${end}`))
      images.push(image)
    },
  }
  {
    using writer = opened({ faults })
    for (let batch = 0; batch < 3; batch++)
      writer.update(
        [fileOf(`${batch}-a.js`, factsOf(["a", "b"])), fileOf(`${batch}-b.js`, factsOf(["c"]))],
        [],
      )
    writer.update([], ["0-a.js", "0-b.js"])
  }
  const sizes: number[] = []
  for (const image of images) {
    using writer = opened({ path: join(image, "code.db") })
    const files = [...writer.files().keys()].sort()
    sizes.push(files.length)
    expect(files.length % 2).toBe(0)
    for (const path of files) expect(writer.symbolsIn(path).length).toBeGreaterThan(0)
    writer.update([fileOf("z.js", factsOf(["z"]))], [])
    expect(writer.symbolsNamed("z").map(({ path }) => path)).toEqual(["z.js"])
  }
  expect([...new Set(sizes)]).toEqual([0, 2, 4, 6])
  expect(sizes.at(-1)).toBe(4)
})

test("the file is its owner's alone", () => {
  opened()[Symbol.dispose]()
  chmodSync(workspace.outside, 0o755)
  const mode = Bun.spawnSync(["stat", "-c", "%a", options.path]).stdout.toString().trim()
  expect(mode).toBe("600")
})
