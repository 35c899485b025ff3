import { describe, expect, test } from "bun:test"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { codeChecks } from "../../src/code/checks.ts"
import type { CheckerSettings, PrintedDiagnostic, ProjectFiles } from "../../src/code/contract.ts"
import { type CheckerName, checkerNames } from "../../src/domain/code/checker-names.ts"

/** The diagnostics of each output, errors first, and its one line that was cut as by the death of the checker. */
const expected = {
  tsc: {
    rows: [
      ...["error src/cart.ts:4:9 TS2322", "error src/cart.ts:5:3 TS2322", "error src/cart.ts:8:41 TS2353"],
      ...["error src/cart.ts:9:64 TS2322", "error src/cart.ts:10:1 TS2304"],
    ],
    unread: "src/cart.ts(8,4",
  },
  biome: {
    rows: [
      "error /project/broken.js:2:1 parse",
      "error /project/broken.js:1:18 lint/correctness/noEmptyPattern",
      "error /project/main.js:2:1 lint/suspicious/noDebugger",
      "error /project/main.js:4:9 lint/suspicious/noDoubleEquals",
      "error /project/main.js:6:7 lint/correctness/noSelfAssign",
      "error /project/main.js:10:1 lint/correctness/noConstAssign",
      "note /project/biome.json:1:13 deserialize",
      "warning /project/broken.js:1:10 lint/correctness/noUnusedVariables",
      "warning /project/main.js:1:8 lint/correctness/noUnusedImports",
      "warning /project/main.js:9:7 lint/correctness/noUnusedVariables",
    ],
    unread: "::error title=lint/suspicious/noDou",
  },
  pyright: {
    rows: [
      ...["1:11", "1:12", "1:12", "2:5", "3:1", "3:1", "3:1"].map(at => `error /project/broken.py:${at} -`),
      "error /project/shapes.py:2:6 reportMissingImports",
      "error /project/shapes.py:6:19 reportAssignmentType",
      "error /project/shapes.py:7:12 reportReturnType",
      "error /project/shapes.py:11:17 reportAssignmentType",
      "error /project/shapes.py:15:9 reportCallIssue",
      "error /project/shapes.py:16:15 reportUndefinedVariable",
    ],
    unread: "  /project/shapes.py:6:1",
  },
  mypy: {
    rows: [
      ...[
        "error shapes.py:2:1 import",
        "error shapes.py:6:19 assignment",
        "error shapes.py:7:12 return-value",
      ],
      ...[
        "error shapes.py:11:17 assignment",
        "error shapes.py:14:9 attr-defined",
        "error shapes.py:15:9 call-arg",
      ],
      ...["error shapes.py:16:15 name-defined", "note shapes.py:2:1 -"],
    ],
    unread: "shapes.py:7:12: err",
  },
  cargo: {
    rows: [
      ...["error src/lane.rs:2:5 E0425", "error src/lib.rs:9:9 E0308", "error src/lib.rs:14:14 E0599"],
      ...["error src/lib.rs:19:21 E0382", "warning src/lib.rs:19:13 unused_variables"],
    ],
    unread: '{"reason":"compiler-message"',
  },
  go: { rows: ["error store/store.go:6:2 -", "error ./cache.go:8:3 -"], unread: "store/store.go:6" },
  javac: {
    rows: [
      ...[10, 15, 16].map(line => `error ./src/shop/Account.java:${line}:- -`),
      ...["7:- rawtypes", "7:- rawtypes", "14:- unchecked"].map(
        at => `warning ./src/shop/Account.java:${at}`,
      ),
    ],
    unread: "./src/shop/Account.java:15: err",
  },
  gcc: {
    rows: [
      ...["error ./list.c:3:10 -", "error ./two.c:7:14 -", "error ./two.c:7:23 -", "error ./two.c:14:11 -"],
      ...["note ./two.c:7:23 -", "warning ./two.c:6:7 -Wunused-variable"],
      ...["warning ./two.c:11:16 -Wint-conversion", "warning ./two.c:12:12 -Wformat="],
      ...["warning ./two.c:13:7 -Wparentheses", "warning ./two.c:13:24 -Wimplicit-function-declaration"],
    ],
    unread: "./two.c:6:7: warn",
  },
  mcs: {
    rows: [
      ...["error ./Two.cs:10:14 CS0029", "error ./Two.cs:14:19 CS0029", "error ./Two.cs:15:23 CS1061"],
      "error ./Two.cs:16:7 CS0103",
    ],
    unread: "./Two.cs(15,23): err",
  },
  ruby: {
    rows: ["error ./mailer.rb:10:- -", "warning ./mailer.rb:6:- -", "warning ./mailer.rb:3:- -"],
    unread: "./mailer.rb:10",
  },
  php: { rows: ["error ./Cart.php:8:- -"], unread: "Parse error: syntax error, unexp" },
  bash: { rows: ["error ./two.sh:7:- -"], unread: "./two.sh: line" },
} satisfies Partial<Record<CheckerName, { rows: readonly string[]; unread: string }>>

const outputs = checkerNames.flatMap(name => {
  const known = Object.entries(expected).find(([each]) => each === name)?.[1]
  return known === undefined ? [] : [{ name, ...known, text: outputOf(name) }]
})

function outputOf(name: CheckerName): string {
  return readFileSync(join(import.meta.dir, "outputs", `${name}.txt`), "utf8")
}

function shown({ level, file, line, column, code }: PrintedDiagnostic): string {
  return `${level} ${file}:${line}:${column ?? "-"} ${code ?? "-"}`
}

describe("the output of a real checker", () => {
  test("is read for twelve checkers", () => expect(outputs).toHaveLength(12))

  test.each(outputs)("of $name is read, and a broken line is counted and loses no other", output => {
    const { name, rows, unread, text } = output
    const read = codeChecks.readOutput(name, [text])
    expect(read.diagnostics.map(shown)).toEqual([...rows])
    expect(read.unreadLines).toEqual([expect.stringContaining(unread)])
    expect(read.errors).toBe(rows.filter(row => row.startsWith("error")).length)
    expect(read.warnings).toBe(rows.filter(row => row.startsWith("warning")).length)
    for (const { message } of read.diagnostics) expect(message).not.toBe("")
  })

  test.each(outputs)("of $name keeps its diagnostics wherever a line of garbage comes between", output => {
    const { name, rows, text } = output
    const lines = text.split("\n")
    const wanted = rows.toSorted()
    for (const garbage of ["\0\x01\xff", "x".repeat(100_000), "{".repeat(1000), "}]:(9,9): \u202e"])
      for (let at = 0; at <= lines.length; at++) {
        const read = codeChecks.readOutput(name, [lines.toSpliced(at, 0, garbage).join("\r\n")])
        expect(read.diagnostics.map(shown).toSorted()).toEqual(wanted)
      }
  })
})

test("a list of errors is bounded, and all of them are counted", () => {
  const lines = Array.from(
    { length: 2000 },
    (_, at) => `a.ts(${at + 1},1): error TS1: ${"long ".repeat(500)}`,
  )
  const read = codeChecks.readOutput("tsc", [lines.join("\n")])
  expect(read.errors).toBe(2000)
  expect(read.diagnostics.length).toBe(500)
  expect(Math.max(...read.diagnostics.map(({ message }) => message.length))).toBeLessThanOrEqual(1000)
})

/** A project as a list of files, and the programs that are installed. */
function checksIn(
  files: Readonly<Record<string, string>>,
  path: string,
  more: Partial<CheckerSettings> = {},
) {
  const paths = Object.keys(files)
  const isDirectory = !paths.includes(path)
  const below = (directory: string) => (directory === "." ? "" : `${directory}/`)
  const project: ProjectFiles = {
    isFile: each => paths.includes(each),
    names: directory =>
      new Set(
        paths.flatMap(each => {
          const rest = each.startsWith(below(directory)) ? each.slice(below(directory).length) : "/"
          return rest.includes("/") ? [] : [rest]
        }),
      ),
    text: each => files[each] ?? null,
    below: (directory, extensions) => ({
      paths: paths.filter(
        each => each.startsWith(below(directory)) && extensions.some(end => each.endsWith(`.${end}`)),
      ),
      truncated: false,
    }),
  }
  const settings: CheckerSettings = { configured: new Map(), hasProgram: () => true, ...more }
  const { commands, missing } = codeChecks.checksOf({ path, isDirectory }, project, settings)
  return { commands: commands.map(({ argv, cwd }) => `${cwd}$ ${argv.join(" ")}`), missing }
}

describe("the checker of a path", () => {
  test("is the project's own before the installed one, also above the path", () => {
    const files = { "node_modules/.bin/tsc": "", "packages/a/tsconfig.json": "{}", "packages/a/src/x.ts": "" }
    expect(checksIn(files, "packages/a/src/x.ts").commands).toEqual([
      "packages/a$ ../../node_modules/.bin/tsc -p . --noEmit --pretty false",
    ])
  })

  test("builds a solution, of which the compiler alone would check no file", () => {
    const config = '{ "files": [], "references": [{ "path": "./app" }] }'
    expect(checksIn({ "tsconfig.json": config }, ".").commands).toEqual([
      ".$ tsc --build . --noEmit --pretty false",
    ])
  })

  test("is the one that the project configures", () => {
    const section = (name: string) =>
      checksIn({ "a.py": "", "pyproject.toml": `[tool.${name}]` }, ".").commands
    expect(section("mypy")[0]).toContain("$ mypy ")
    expect(section("ruff.lint")[0]).toContain("$ ruff check ")
    expect(section("other")[0]).toContain("$ pyright ")
    expect(checksIn({ "src/a.py": "", "src/mypy.ini": "" }, "src/a.py").commands[0]).toContain("src$ mypy ")
  })

  test("is one for each kind of code, and single files count only where no project is", () => {
    const files = { "Cargo.toml": "", "src/lib.rs": "", "tsconfig.json": "{}", "tool.py": "", "x.c": "" }
    expect(checksIn(files, ".").commands.map(each => each.split(" ")[1])).toEqual(["tsc", "cargo"])
    expect(checksIn(files, "x.c").commands.map(each => each.split(" ")[1])).toEqual(["gcc"])
  })

  test("takes no name of a file for an option or a list of options", () => {
    expect(checksIn({ "-o.c": "", "@x.c": "" }, ".").commands[0]).toEndWith("-I. ./-o.c ./@x.c")
    expect(checksIn({ "-e.rb": "" }, "-e.rb").commands).toEqual([".$ ruby -wc ./-e.rb"])
  })

  test("finds the other classes of a package", () => {
    const files = { "src/a/b/C.java": "// note\npackage a.b;\nclass C {}" }
    expect(checksIn(files, "src/a/b/C.java").commands[0]).toEndWith("-sourcepath ./src ./src/a/b/C.java")
  })

  test("that is missing, or cannot be used, is named", () => {
    const none = { hasProgram: () => false }
    expect(checksIn({ "a.py": "" }, "a.py", none).missing).toEqual([
      "Python: pyright is not installed, mypy is not installed, ruff is not installed",
    ])
    expect(checksIn({ "a.sh": "", "b.sh": "" }, ".").missing[0]).toContain("one file at a time")
    expect(checksIn({ "pom.xml": "", "A.java": "" }, ".").missing[0]).toContain("code.checkers")
    expect(checksIn({ "a.txt": "" }, ".")).toEqual({ commands: [], missing: [] })
  })

  test("is configured, or switched off", () => {
    const configured = new Map<CheckerName, readonly string[] | null>([
      ["mypy", ["uv", "run", "mypy", "."]],
      ["gcc", null],
    ])
    expect(checksIn({ "p/a.py": "", "p/a.c": "" }, "p", { configured })).toEqual({
      commands: [".$ uv run mypy ."],
      missing: [],
    })
  })
})
