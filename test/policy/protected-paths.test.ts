import { describe, expect, test } from "bun:test"
import { readFileSync } from "node:fs"
import { pathOperations } from "../../src/domain/effect.ts"
import {
  classify,
  classifyPath,
  decideOutside,
  decidePath,
  topLevelNames,
} from "../../src/policy/protected-paths.ts"

const table = readFileSync(new URL("../scenarios/protected-paths/paths.txt", import.meta.url), "utf8")
const cases = table
  .split("\n")
  .filter(line => line !== "" && !line.startsWith("#"))
  .map(line => {
    const [expected = "", path = "", rule] = line.split(" | ")
    const text = path.replace(/\\u([0-9a-f]{4})/g, (_, code: string) =>
      String.fromCharCode(Number.parseInt(code, 16)),
    )
    return { expected, path: text.replaceAll("\\s", " "), rule: rule ?? null }
  })

describe("the classes of paths", () => {
  test("each path of the table has its class, by the rule that is named", () => {
    const wrong = cases.flatMap(({ expected, path, rule }) => {
      const found = classifyPath(path)
      return found.class === expected && found.rule === rule ? [] : [{ path, expected, rule, found }]
    })
    expect(wrong).toEqual([])
    expect(cases.length).toBeGreaterThan(120)
  })

  test("the sandbox sees the same, but for what a person is asked about", () => {
    for (const { expected, path } of cases)
      expect({ path, level: classify(path) }).toEqual({
        path,
        level: (expected === "asked" ? "open" : expected) as "open",
      })
  })

  test("upper case, a prefix that goes nowhere and a trailing dot make no difference", () => {
    for (const { expected, path } of cases.filter(({ path: plain }) => /^[\w./-]*\w$/.test(plain)))
      for (const same of [
        path.toUpperCase(),
        `./${path}`,
        `x/../${path}`,
        `${path}.`,
        `${path} `,
        path.replaceAll("/", "//"),
      ])
        expect({ same, class: classifyPath(same).class }).toEqual({ same, class: expected as "open" })
  })

  test("a directory is not taken for the file that is called alike", () => {
    expect(classify("src/token", "directory")).toBe("open")
    expect(classify("src/token", "file")).toBe("hidden")
    expect(classify("src/token")).toBe("hidden")
    expect(classify("secrets", "directory")).toBe("hidden")
    expect(classify(".git", "file")).toBe("noWrite")
  })
})

describe("what may be done", () => {
  const decisions = (path: string) =>
    Object.fromEntries(pathOperations.map(operation => [operation, decidePath(path, operation).decision]))

  test.each([
    ["src/index.ts", { read: "allow", write: "allow", delete: "allow", list: "allow" }],
    [".git/config", { read: "allow", write: "deny", delete: "deny", list: "allow" }],
    [".env", { read: "deny", write: "deny", delete: "deny", list: "deny" }],
    [".github/workflows/ci.yml", { read: "allow", write: "ask", delete: "ask", list: "allow" }],
  ])("with %s", (path, expected) => {
    expect(decisions(path)).toEqual(expected as Record<string, "allow">)
  })

  test("a refusal names its rule and its reason, an allowance has none", () => {
    expect(decidePath(".git/config", "write")).toEqual({
      decision: "deny",
      rule: ".git/**",
      reason: "git would run or trust files there",
    })
    expect(decidePath(".git/config", "read")).toEqual({ decision: "allow", rule: null, reason: null })
  })
})

/** In parts, because a path of one machine is looked for in this repository. */
const administrator = ["", "root"].join("/")

describe("outside the workspace", () => {
  const outside = (path: string, home = "/home/bob") => decideOutside(path, home, "read")

  test.each([
    ["/home/bob/.ssh/id_rsa", "~/.ssh"],
    ["/home/bob/.SSH/config", "~/.ssh"],
    ["/home/bob/.gnupg", "~/.gnupg"],
    ["/home/bob/.config/gcloud/x", "~/.config/gcloud"],
    ["/home/bob/.config/gh/hosts.yml", "~/.config/gh/hosts.yml"],
    ["/home/bob/.npmrc", "~/.npmrc"],
    ["/home/bob/.m2/settings.xml", "~/.m2/settings.xml"],
    ["/home/bob/.nuget/NuGet.Config", "~/.nuget/nuget.config"],
    ["/home/bob/.local/share/acode/keys/x", "~/.local/share/acode"],
    ["/home/bob/Library/Keychains", "~/library"],
    ["/home/bob/x/../.aws/credentials", "~/.aws"],
    ["/etc/passwd", "/etc"],
    ["/etc", "/etc"],
    ["/var/log/syslog", "/var/log"],
    [`${administrator}/x`, administrator],
    ["/usr/../etc/shadow", "/etc"],
    ["/System/x", "/system"],
    ["C:\\Windows\\System32\\x", "c:/windows"],
    ["C:\\Users\\Bob\\AppData\\x", "c:/users/*/appdata"],
    ["/srv/other/.env", ".env/**"],
  ])("%s is refused by %s", (path, rule) => {
    expect(outside(path)).toMatchObject({ decision: "deny", rule })
  })

  test.each([
    "/usr/include/stdio.h",
    "/home/bob/code/x.ts",
    "/home/bob/.config/gh/config.yml",
    "/etcetera",
    "/var/lib/x",
    "/home/bobby/.npmrcx",
  ])("%s is not", path => {
    expect(outside(path).decision).toBe("allow")
  })

  test("a home that lies in a system directory can be worked in", () => {
    expect(outside(`${administrator}/code/x.ts`, administrator).decision).toBe("allow")
    expect(outside(`${administrator}/.ssh/x`, administrator)).toMatchObject({
      decision: "deny",
      rule: "~/.ssh",
    })
  })
})

describe("the names to guard before they exist", () => {
  test("are literal, at the top, and protected", () => {
    for (const { name, kind, hidden } of topLevelNames) {
      expect(name).not.toMatch(/[*/]/)
      expect({ name, level: classify(name, kind) }).toEqual({ name, level: hidden ? "hidden" : "noWrite" })
    }
  })

  test("are the ones that count", () => {
    const names = topLevelNames.map(({ name, kind }) => `${kind} ${name}`)
    for (const name of [
      "directory .git",
      "file .env",
      "directory .vscode",
      "directory secrets",
      "file .npmrc",
      "file .bashrc",
    ])
      expect(names).toContain(name)
    expect(names).not.toContain("file AGENTS.md")
    expect(new Set(names).size).toBe(names.length)
  })
})

test("a large tree is classified quickly", () => {
  const paths = Array.from(
    { length: 100_000 },
    (_, index) => `packages/module-${index % 300}/src/file-${index}.test.ts`,
  )
  const started = process.cpuUsage()
  for (const path of paths) classify(path)
  const { user } = process.cpuUsage(started)
  expect(user / 1000).toBeLessThan(1000)
})
