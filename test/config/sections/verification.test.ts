import { describe, expect, test } from "bun:test"
import { toProjectCommands } from "../../../src/config/sections/verification.ts"
import { configFixture, failureOf } from "../config-fixture.ts"

const yaml = (...lines: readonly string[]) =>
  `schema_version: "1"\ncommands:\n${lines.map(line => `  ${line}\n`).join("")}`

const none = { setup: null, build: null, test: null, lint: null, format: null, start: null }

describe("the commands of a project", () => {
  test("are none by default", async () => {
    using fixture = configFixture()
    expect(toProjectCommands((await fixture.load()).values)).toEqual(none)
  })

  test("are arguments, or text that is split without a shell", async () => {
    using fixture = configFixture()
    fixture.user(yaml("test: npm test -- --grep 'two words'", 'lint: [eslint, "src dir"]', "build: null"))
    expect(toProjectCommands((await fixture.load()).values)).toEqual({
      ...none,
      test: ["npm", "test", "--", "--grep", "two words"],
      lint: ["eslint", "src dir"],
    })
  })

  test.each(["npm test && rm -rf x", "FOO=1 npm test", "npm test | tee log", "echo $HOME", "make 'x"])(
    "cannot be something that only a shell could do: %s",
    async line => {
      using fixture = configFixture()
      fixture.user(yaml(`test: ${JSON.stringify(line)}`))
      expect(await failureOf(() => fixture.load())).toMatchObject({ kind: "config", code: "ACODE-CFG-003" })
    },
  )

  test("say why a text is no command", async () => {
    using fixture = configFixture()
    fixture.user(yaml('test: "npm test && true"'))
    const { message } = await failureOf(() => fixture.load())
    expect(message).toContain("commands.test: ")
    expect(message).toContain('"&" at character 10 means something only to a shell')
  })

  test("from the project's file count only when it is trusted", async () => {
    using fixture = configFixture()
    fixture.project(yaml("test: curl evil.example", "lint: eslint"))
    const untrusted = await fixture.load()
    expect(toProjectCommands(untrusted.values)).toEqual(none)
    fixture.user(yaml("test: npm test"))
    expect(toProjectCommands((await fixture.load()).values)).toEqual({ ...none, test: ["npm", "test"] })
  })
})
