import { describe, expect, test } from "bun:test"
import fc from "fast-check"
import { stringify } from "yaml"
import { canonicalJson, type Json } from "../../src/base/canonical.ts"
import { setConfigValue } from "../../src/config/edit.ts"
import { configSources } from "../../src/config/file.ts"
import { defaultLeaves, documentOf } from "../../src/config/keys.ts"
import { overridden, stricter } from "../../src/config/merge.ts"
import { readYaml } from "../../src/config/yaml.ts"
import { Failure } from "../../src/domain/failure.ts"
import { configFixture } from "./config-fixture.ts"

const anyKey = fc.constantFrom(...defaultLeaves.keys())
const anyJson = fc.jsonValue({ maxDepth: 3 }).map(value => value as Json) // as: fast-check's JSON is ours

/** Values that are valid for a key, so that runs get past the first refusal. */
const validValues: readonly (readonly [string, fc.Arbitrary<Json>])[] = [
  ["execution.max_concurrent", fc.integer({ min: 1, max: 16 })],
  ["execution.default_timeout_seconds", fc.constantFrom(0.5, 1, 300, 604_800)],
  ["execution.use_shell", fc.boolean()],
  ["execution.sandbox", fc.constantFrom("auto", "bwrap", "none")],
  [
    "execution.readable_paths",
    fc.array(fc.constantFrom("/opt", "~/x", "/a: b", "/# c", "/'q'"), { maxLength: 4 }),
  ],
  ["execution.environment.include", fc.array(fc.constantFrom("PATH", "HOME", "X"), { maxLength: 4 })],
  ["execution.audit.include_output", fc.boolean()],
  ["execution.limits.memory_mb", fc.option(fc.integer({ min: 4, max: 4096 }))],
  [
    "execution.redaction.patterns",
    fc.array(fc.constantFrom("abc", "sk-[a-z]{3}", 'q"uote'), { maxLength: 3 }),
  ],
]
const validEntry = fc.oneof(
  ...validValues.map(([key, values]) => values.map((value): readonly [string, Json] => [key, value])),
)
const runs = { numRuns: 60 }

describe("whatever is given", () => {
  test("for a key in a file, loading gives a configuration or a Failure", async () => {
    using fixture = configFixture()
    await fc.assert(
      fc.asyncProperty(anyKey, anyJson, async (key, value) => {
        const document = documentOf(new Map<string, Json>([["schema_version", "1"]]).set(key, value))
        fixture.project(JSON.stringify(document))
        await onlyFailures(() => fixture.load())
      }),
      runs,
    )
  })

  test("on the command line for a key, setting it takes effect as a whole or not at all", async () => {
    using fixture = configFixture()
    const { project } = configSources(fixture.workspace.root, fixture.environment(), null)
    const text = fc.oneof(
      anyJson.map(value => JSON.stringify(value)),
      fc.string(),
      validEntry.map(([, value]) => String(value)),
    )
    await fc.assert(
      fc.asyncProperty(anyKey, text, async (key, valueText) => {
        const before = await fixture.load()
        const edit = { source: project, key, valueText, ensureDirectory: () => undefined }
        const ended = await onlyFailures(() => setConfigValue(edit))
        const after = await fixture.load()
        if (ended === "failure") expect(after.projectFile.hash).toBe(before.projectFile.hash)
        else expect(after.origins.get(key)).toBeDefined()
      }),
      runs,
    )
  })

  test("as a value on the command line, it is an override or a Failure", async () => {
    using fixture = configFixture()
    await fc.assert(
      fc.asyncProperty(fc.oneof(anyKey, fc.string()), anyJson, async (key, value) => {
        await onlyFailures(() => fixture.load({ flags: { values: { [key]: value } } }))
      }),
      runs,
    )
  })

  test("as the text of a file, it is read or refused", async () => {
    using fixture = configFixture()
    const piece = fc.constantFrom(
      ...[
        "a",
        "b: ",
        "- ",
        "\n",
        "  ",
        "[",
        "]",
        "{",
        "}",
        ",",
        "&x ",
        "*x",
        "!t ",
        "|\n",
        ">\n",
        "'",
        '"',
        "# ",
        "? ",
      ],
      ...[
        "---\n",
        "...\n",
        "%YAML 1.1\n",
        "\t",
        "\r\n",
        "\ufeff",
        "schema_version: '1'\n",
        "execution:\n",
        "<<: ",
        "~",
        "\0",
      ],
    )
    const text = fc.oneof(
      fc.array(piece, { maxLength: 30 }).map(pieces => pieces.join("")),
      fc.string({ unit: "binary" }),
    )
    await fc.assert(
      fc.asyncProperty(text, async content => {
        fixture.project(content)
        await onlyFailures(() => fixture.load())
      }),
      { numRuns: 150 },
    )
  })
})

describe("an edit", () => {
  test("of any valid file changes one value and keeps every comment", async () => {
    using fixture = configFixture()
    const { project } = configSources(fixture.workspace.root, fixture.environment(), null)
    const style = fc.record({
      indent: fc.constantFrom(1, 2, 4),
      indentSeq: fc.boolean(),
      newline: fc.constantFrom("\n", "\r\n"),
      flow: fc.boolean(),
      comments: fc.boolean(),
    })
    await fc.assert(
      fc.asyncProperty(
        fc.array(validEntry, { maxLength: 6 }),
        style,
        validEntry,
        async (entries, form, [key, value]) => {
          const leaves = new Map<string, Json>([["schema_version", "1"], ...entries])
          const text = rendered(documentOf(leaves), form)
          fixture.project(text)
          const valueText = typeof value === "string" ? value : JSON.stringify(value)
          await setConfigValue({ source: project, key, valueText, ensureDirectory: () => undefined })
          const edited = await Bun.file(fixture.projectPath).text()
          const read = readYaml(edited)
          if (!("tree" in read)) throw new Error(edited)
          expect(canonicalJson(read.tree.value)).toBe(canonicalJson(documentOf(leaves.set(key, value))))
          for (const comment of text.match(/#~\d+/g) ?? []) expect(edited).toContain(comment)
          expect(edited.replaceAll(form.newline, "")).not.toContain("\n")
        },
      ),
      runs,
    )
  })
})

describe("strictness", () => {
  test("never lets an untrusted value through that loosens, and repeating it changes nothing", () => {
    fc.assert(
      fc.property(validEntry, validEntry, ([key, held], [otherKey, said]) => {
        fc.pre(key === otherKey)
        const result = stricter(key, held, said)
        expect(stricter(key, result, said)).toEqual(result)
        expect(stricter(key, held, result)).toEqual(result)
        if (key === "execution.use_shell" && held === false) expect(result).toBe(false)
        if (Array.isArray(result) && Array.isArray(held) && key !== "execution.redaction.patterns")
          for (const entry of result) expect(held).toContain(entry)
      }),
      { numRuns: 500 },
    )
  })

  test("lets a trusted value through as it is, but for lists that only grow", () => {
    fc.assert(
      fc.property(validEntry, ([key, said]) => {
        const held = defaultLeaves.get(key) ?? null
        expect(new Set([overridden(key, held, said)].flat())).toEqual(new Set([said].flat()))
      }),
    )
  })
})

async function onlyFailures(action: () => Promise<unknown>): Promise<"done" | "failure"> {
  try {
    await action()
    return "done"
  } catch (thrown) {
    if (thrown instanceof Failure) return "failure"
    throw thrown
  }
}

interface Form {
  readonly indent: number
  readonly indentSeq: boolean
  readonly newline: string
  readonly flow: boolean
  readonly comments: boolean
}

/** The same document in another form, with numbered comments behind and between its lines. */
function rendered(document: Json, { indent, indentSeq, newline, flow, comments }: Form): string {
  const plain = stringify(document, {
    indent,
    indentSeq,
    lineWidth: 0,
    collectionStyle: flow ? "flow" : "any",
  })
  const lines = plain.trimEnd().split("\n")
  // A comment on an entry of a list goes with the list.
  const mark = (line: string, index: number) =>
    line.trimStart().startsWith("-") ? [line] : [`${line}  #~${index}`, `#~${index}00`]
  const marked = flow || !comments ? lines : lines.flatMap(mark)
  return `${marked.join(newline)}${newline}`
}
