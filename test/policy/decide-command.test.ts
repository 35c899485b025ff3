import { describe, expect, test } from "bun:test"
import type { ExecuteEffect } from "../../src/domain/effect.ts"
import { shippedDefaults } from "../support/plan/shipped-decisions.ts"
import { decideOn, execute, type Given, rulesOf } from "./policy-kit.ts"

const on = (command: string | readonly string[], given: Given = {}, more: Partial<ExecuteEffect> = {}) =>
  decideOn([execute(command, more)], given)
const short = (command: string | readonly string[], given: Given = {}, more: Partial<ExecuteEffect> = {}) => {
  const { decision, rule } = on(command, given, more)
  return `${decision} ${rule}`
}
const words = (command: string) => command.split(" ")

describe("an ordinary command", () => {
  test("is allowed only confined", () => {
    expect(on(words("npm test"))).toEqual({
      decision: "allow",
      confined: true,
      level: 2,
      category: "TERMINAL_COMMAND",
      rule: "commands.packages",
      reason: "an ordinary command, confined",
      skip: false,
    })
  })

  test("is asked without a sandbox, and terminal:safe answers", () => {
    const bare = { confined: false }
    expect(on(words("npm test"), {}, bare)).toMatchObject({ decision: "ask", confined: false, level: 2 })
    expect(on(words("cat a"), { yes: "terminal" }, bare)).toMatchObject({
      decision: "allow",
      confined: false,
    })
    expect(on("cat a | wc", { yes: "terminal" }, bare)).toMatchObject({ decision: "allow", confined: false })
    expect(short(words("npm install"), { yes: "terminal" }, bare)).toStartWith("ask")
  })

  test("is the strictest of its programs", () => {
    expect(short("ls; foo")).toBe("ask commands.unknown-program")
    expect(short("foo; rm -rf /")).toBe("deny never.recursive-delete")
    expect(short("ls; git status")).toBe("allow commands.read")
  })
})

describe("what a command touches", () => {
  const rows: readonly (readonly [string, string])[] = [
    ["cat .env", "deny protected:"],
    ["cat /etc/shadow", "deny protected:"],
    ["cat /usr/include/a.h", "allow"],
    ["cp a .git/config", "deny protected:"],
    ["mkdir .git", "deny protected:"],
    ["mkdir build", "allow"],
    ["touch a", "ask default.FILE_WRITE"],
    ["rm a", "ask default.FILE_DELETE"],
    ["touch /opt/a", "ask workspace.outside"],
    ["touch .github/x", "ask protected:"],
    ["gcc -o app main.c", "allow"],
    ["gcc -o .git/x main.c", "deny protected:"],
    ["gcc -o /usr/bin/x main.c", "ask workspace.outside"],
    ["git show HEAD:.env", "deny protected:"],
  ]
  test.each(rows)("%s: %s", (command, expected) => {
    expect(short(words(command))).toStartWith(expected)
  })

  test("is judged where it runs", () => {
    expect(short(words("touch config"), {}, { cwd: ".git" })).toStartWith("deny protected:")
    expect(short("cd .git && touch config")).toStartWith("deny protected:")
    expect(short(words("cat ../.env"), {}, { cwd: "src" })).toStartWith("deny protected:")
  })

  test("is asked when nobody knows it yet", () => {
    expect(short('echo a > "$x"')).toBe("ask commands.dynamic-path")
    expect(short('cat "$x"')).toStartWith("allow")
  })

  test("is granted by the plan's globs, or by its commands naming it", () => {
    expect(short("ls > src/a", { grant: { write: ["src/**"] } })).toStartWith("allow")
    expect(short(words("rm dist"), { grant: { commands: [words("rm dist")] } })).toBe("allow plan.commands")
    expect(short(words("rm dist src"), { grant: { commands: [words("rm dist")] } })).toStartWith("ask")
    expect(short(words("rm .env"), { grant: { commands: [words("rm .env")] } })).toStartWith("deny")
    expect(short(words("touch .github/x"), { grant: { commands: [words("touch .github/x")] } })).toStartWith(
      "ask",
    )
  })
})

describe("a directory outside the workspace", () => {
  test("is no place to run in", () => {
    for (const cwd of ["..", "/", "/tmp", "a/../.."])
      expect(on(["ls"], { yes: "all" }, { cwd })).toMatchObject({
        decision: "deny",
        level: 4,
        rule: "workspace.outside",
      })
  })
})

describe("the plan's commands", () => {
  const grant = { commands: [["mytool", "build"], words("timeout 60 other"), ["bash", "-c", "third x"]] }

  test("are prefixes", () => {
    expect(on(words("mytool build --fast"), { grant })).toMatchObject({
      decision: "allow",
      confined: true,
      rule: "plan.commands",
    })
    expect(short(words("mytool clean"), { grant })).toStartWith("ask")
    expect(short(["mytool"], { grant })).toStartWith("ask")
  })

  test("hold through a wrapper that changes nothing", () => {
    expect(short(words("timeout 5 mytool build"), { grant })).toStartWith("allow")
    expect(short("mytool build && mytool build", { grant })).toStartWith("allow")
    expect(short("mytool build; foo", { grant })).toStartWith("ask")
  })

  test("grant what a wrapper starts only when they name it", () => {
    expect(short(words("timeout 60 other x"), { grant })).toStartWith("allow")
    expect(short(words("timeout 61 other x"), { grant })).toStartWith("ask")
    expect(short(["bash", "-c", "third x"], { grant })).toStartWith("allow")
    expect(short(["bash", "-c", "third x; fourth"], { grant })).toStartWith("ask")
    expect(short(["timeout", "5", "foo"], { grant: { commands: [["timeout"]] } })).toStartWith("ask")
  })

  test("do not reach options that make the program another thing", () => {
    const git = { commands: [["git", "log"]] }
    expect(short(words("git log --output=x"), { grant: git })).toStartWith("ask")
    expect(
      short(words("git log --output=x"), { grant: { commands: [words("git log --output=x")] } }),
    ).toStartWith("allow")
    expect(short(words("git -c a=b log"), { grant: { commands: [["git"]] } })).toStartWith("ask")
    expect(short(words("npm install"), { grant: { commands: [["npm"]] } })).toStartWith("ask")
  })

  test("do not reach the network, Level 4 or protected paths", () => {
    for (const command of ["curl x", "npm install"])
      expect(short(words(command), { grant: { commands: [words(command)] } })).toBe("ask commands.network")
    expect(short(words("rm -rf /"), { grant: { commands: [words("rm -rf /")] } })).toStartWith("deny never.")
    expect(short(words("cat .env"), { grant: { commands: [words("cat .env")] } })).toStartWith(
      "deny protected:",
    )
  })

  test("are asked without a sandbox", () => {
    expect(short(words("mytool build"), { grant }, { confined: false })).toStartWith("ask")
  })
})

describe("a concrete step", () => {
  const step = execute(["curl", "x"], { network: "host" })
  const grant = { exact: [step] }

  test("is granted exactly as written, network and all", () => {
    expect(decideOn([step], { grant })).toMatchObject({ decision: "allow", confined: true })
    expect(decideOn([{ ...step, cwd: "./" }], { grant })).toMatchObject({ decision: "allow" })
  })

  test("stands without a sandbox where whoever granted it knew of that, and is asked about elsewhere", () => {
    const bare = [{ ...step, confined: false }]
    expect(decideOn(bare, { grant: { ...grant, isUnconfined: true } })).toMatchObject({
      decision: "allow",
      confined: false,
    })
    expect(decideOn(bare, { grant })).toMatchObject({ decision: "ask", confined: false })
  })

  test("is nothing else", () => {
    expect(short(["curl", "y"], { grant }, { network: "host" })).toStartWith("ask")
    expect(short(["curl", "x"], { grant })).toStartWith("ask")
    expect(short("curl x", { grant }, { network: "host" })).toStartWith("ask")
    expect(short(["curl", "x"], { grant }, { network: "host", cwd: "src" })).toStartWith("ask")
  })

  test("is never Level 4, protected or refused by a rule", () => {
    const rules = rulesOf({ name: "no curl", operation: "terminal_command", command: "curl", policy: "deny" })
    expect(decideOn([step], { grant, rules })).toMatchObject({ decision: "deny", rule: "no curl" })
    const fatal = execute(["rm", "-rf", "/"])
    expect(decideOn([fatal], { grant: { exact: [fatal] } })).toMatchObject({ decision: "deny", level: 4 })
    const hidden = execute(["cat", ".env"])
    expect(decideOn([hidden], { grant: { exact: [hidden] } })).toMatchObject({ decision: "deny", level: 4 })
  })
})

describe("the network", () => {
  test("is asked for whatever the command is", () => {
    expect(on(words("npm test"), {}, { network: "host" })).toMatchObject({
      decision: "ask",
      level: 3,
      category: "EXTERNAL_REQUEST",
      reason: expect.stringContaining("services of this machine and cloud metadata included"),
    })
  })

  test("is answered by terminal:all and not by terminal", () => {
    expect(short(["curl", "x"], { yes: "terminal:all" })).toStartWith("allow")
    expect(short(["curl", "x"], { yes: "terminal" })).toStartWith("ask")
  })
})

describe("rules", () => {
  const auto = rulesOf({
    name: "mine",
    operation: "terminal_command",
    command: ["mytool", "*"],
    policy: "auto",
  })

  test("allow what they name, confined", () => {
    expect(on(words("mytool x"), { rules: auto })).toMatchObject({
      decision: "allow",
      confined: true,
      rule: "mine",
    })
    expect(short(["mytool"], { rules: auto })).toStartWith("ask")
    expect(short(words("mytool x"), { rules: auto }, { confined: false })).toStartWith("ask")
  })

  test("with a wildcard do not name what it stands for", () => {
    const rules = rulesOf({ name: "npm", operation: "terminal_command", command: "npm *", policy: "auto" })
    expect(short(words("npm exec x"), { rules })).toStartWith("ask")
    expect(short(words("npm install"), { rules })).toStartWith("ask")
    expect(short(words("npm test"), { rules })).toBe("allow npm")
  })

  test("that ask are heard before the shipped ones", () => {
    const rules = rulesOf({
      name: "look",
      operation: "terminal_command",
      command: "npm test",
      policy: "prompt",
    })
    expect(short(words("npm test"), { rules })).toBe("ask look")
  })

  test("that refuse see through wrappers, options, paths and scripts", () => {
    const rules = rulesOf({
      name: "no",
      operation: "terminal_command",
      command: "git commit",
      policy: "deny",
    })
    for (const command of [
      words("git commit"),
      words("git -C . commit -m x"),
      words("env git commit"),
      words("/usr/bin/git commit"),
      "ls && git commit",
      "sh -c 'git commit'",
      words("GIT commit"),
      "git $x",
    ])
      expect(short(command, { rules })).toBe("deny no")
    expect(short(words("git log"), { rules })).toStartWith("allow")
  })

  test("that skip refuse and say that they pass over", () => {
    const rules = rulesOf({
      name: "later",
      operation: "terminal_command",
      command: "npm publish",
      policy: "skip",
    })
    expect(on(words("npm publish"), { rules })).toMatchObject({ decision: "deny", skip: true, rule: "later" })
  })

  test("may be regular expressions over the whole command", () => {
    const rules = rulesOf({
      name: "re",
      operation: "terminal_command",
      command_regex: "^mytool (a|b)$",
      policy: "auto",
    })
    expect(short(words("mytool a"), { rules })).toBe("allow re")
    expect(short(words("mytool a b"), { rules })).toStartWith("ask")
  })
})

describe("the default for commands", () => {
  const given = (policy: "auto" | "deny" | "skip"): Given => ({
    options: { defaults: { ...shippedDefaults, TERMINAL_COMMAND: policy } },
  })

  test("refuses or allows what no rule knows", () => {
    expect(short(["foo"], given("deny"))).toBe("deny commands.unknown-program")
    expect(on(["foo"], given("skip"))).toMatchObject({ decision: "deny", skip: true })
    expect(on(["foo"], given("auto"))).toMatchObject({ decision: "allow", confined: true })
  })

  test("does not make what is known to be risky pass", () => {
    expect(short(words("git commit"), given("auto"))).toStartWith("ask")
    expect(short(["curl", "x"], given("auto"))).toStartWith("ask")
    expect(short(words("rm -rf /"), given("auto"))).toStartWith("deny")
  })

  test("does not refuse ordinary commands", () => {
    expect(short(words("npm test"), given("deny"))).toStartWith("allow")
  })
})
