import { describe, expect, test } from "bun:test"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { cliCommands } from "../src/cli/commands/table.ts"
import { globalFlags } from "../src/cli/parse/flags.ts"
import { listConfigKeys } from "../src/config/reference.ts"
import { errorCodes } from "../src/domain/error-codes.ts"
import { manifest } from "../src/domain/events/manifest.ts"
import { repositoryRoot } from "./support/acode.ts"
import { unmadeCodes, unreadSettings } from "./support/declared/declared-exceptions.ts"
import { SourceUses } from "./support/declared/declared-uses.ts"

const keys = listConfigKeys()
const specs = [globalFlags, ...cliCommands.map(({ flags }) => flags)]
const uses = new SourceUses([
  ...keys.flatMap(({ key }) => key.split(".")),
  ...specs.flatMap(flags => Object.keys(flags)),
])

const docs = (page: string) => readFileSync(join(repositoryRoot, "docs", page), "utf8")

describe("what the documentation lists is used by the product", () => {
  test("every error code is given to somebody", () => {
    const given = uses.literals()
    const isMade = (code: string) =>
      [...(given.get(code) ?? [])].some(path => !path.startsWith("src/domain/error-codes"))
    expect(docs("errors.md")).toContain(`| \`${Object.keys(errorCodes).at(-1)}\` |`)
    expect(Object.keys(errorCodes).filter(code => !isMade(code))).toEqual(Object.keys(unmadeCodes))
  })

  test("every event is written", () => {
    const made = uses.firstArguments("newEvent")
    const nameOf = (type: string) =>
      type.replace(/(?:^|[._])([a-z])/g, (_, letter: string) => letter.toUpperCase())
    expect(manifest.definitions.map(({ type }) => nameOf(type)).filter(name => !made.has(name))).toEqual([])
  })

  test("every configuration key that can have more than one value is read", () => {
    const members = uses.membersOf("src/config/schema.ts", "Config")
    // What describes, reads, merges and checks the files themselves knows every key and works with none.
    const isRead = (key: string) => [...(members.get(key) ?? [])].some(path => !isConfigItself(path))
    const unread = keys.filter(each => each.type !== JSON.stringify(each.default) && !isRead(each.key))
    expect(unread.map(({ key }) => key)).toEqual([])
  })

  test("and so is what is made of it", () => {
    const unread = [...uses.settings()].filter(([, readers]) =>
      [...readers].every(path => path.startsWith("src/app/config-")),
    )
    expect(unread.map(([name]) => name)).toEqual(Object.keys(unreadSettings))
  })

  test("every flag is read, unless it says that it is always on", () => {
    const flags = uses.flags()
    const declared = new Set(flags.map(({ name }) => name))
    const typed = specs.flatMap(each => Object.keys(each))
    expect(typed.filter(name => !declared.has(name))).toEqual([])
    const always = specs.flatMap(each =>
      Object.entries(each).flatMap(([name, { summary }]) => (summary.startsWith("always on") ? [name] : [])),
    )
    const unread = flags.filter(({ readers }) => readers.size === 0).map(({ name }) => name)
    expect(unread.sort()).toEqual([...new Set(always)].sort())
  })
})

function isConfigItself(path: string): boolean {
  return /^src\/app\/config-(?!settings|verification)/.test(path)
}
