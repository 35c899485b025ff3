import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import ts from "typescript"
import type { Random } from "../soak/random.ts"
import { repositoryRoot } from "../support/acode.ts"
import { missingProgram } from "../support/requirement.ts"

/** A definition in a text, found without the parser of acode. */
export interface Definition {
  /** With the class around it. */
  readonly symbol: string
  readonly name: string
  /** In characters of the text. */
  readonly start: number
  readonly text: string
  /** Returns another valid definition of the same name and kind. */
  changed(number: number): string
}

/** Texts of one kind of file, and how their definitions are found. */
export interface SourceKind {
  readonly extension: string
  /** A text of this kind with `\n` alone, whoever wrote it. */
  text(random: Random): string
  definitions(text: string): readonly Definition[]
  /** The number of syntax errors by the second parser; null where there is none. */
  errors(text: string): number | null
}

const lengthMax = 60_000

/** Real files of `node_modules` with another parser for TypeScript, those of Python with its own, and planted ones. */
export function sourceKinds(): readonly SourceKind[] {
  const python = missingProgram("python3") === null ? [pythonKind()] : []
  return [typescriptKind("ts"), typescriptKind("js"), ...python.flat(), ...planted]
}

function typescriptKind(extension: "ts" | "js"): SourceKind {
  const paths = filesBelow(join(repositoryRoot, "node_modules"), name => name.endsWith(`.${extension}`))
  return {
    extension,
    text: random => textOf(paths, random, ofTypescript),
    definitions: ofTypescript,
    errors: typescriptErrors,
  }
}

function filesBelow(directory: string, isWanted: (name: string) => boolean): readonly string[] {
  return readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter(entry => entry.isFile() && isWanted(entry.name))
    .map(entry => join(entry.parentPath, entry.name))
    .sort()
}

const definitionsMin = 3

function textOf(paths: readonly string[], random: Random, definitions: SourceKind["definitions"]): string {
  for (;;) {
    const text = readFileSync(random.oneOf(paths), "utf8").replaceAll("\r\n", "\n")
    const isUsable =
      text.length > 200 && text.length < lengthMax && !/[\0\ufffd\r]|^\ufeff|.{4000}/.test(text)
    if (isUsable && definitions(text).length >= definitionsMin) return text
  }
}

function parsed(text: string): ts.SourceFile {
  return ts.createSourceFile("a.ts", text, ts.ScriptTarget.Latest, true)
}

/** Returns the declarations at the top and the methods of classes there. */
function ofTypescript(text: string): readonly Definition[] {
  const file = parsed(text)
  return file.statements.flatMap(statement => {
    if (!isDeclaration(statement) || statement.name === undefined) return []
    const { text: name } = statement.name
    const own = typescriptDefinition(file, statement, name, name)
    if (!ts.isClassDeclaration(statement)) return [own]
    const methods = statement.members.flatMap(member =>
      ts.isMethodDeclaration(member) && member.body !== undefined && ts.isIdentifier(member.name)
        ? [typescriptDefinition(file, member, member.name.text, `${name}.${member.name.text}`)]
        : [],
    )
    return [own, ...methods]
  })
}

type Declaration = ts.FunctionDeclaration | ts.ClassDeclaration | ts.InterfaceDeclaration | ts.EnumDeclaration

function isDeclaration(node: ts.Statement): node is Declaration {
  return (
    (ts.isFunctionDeclaration(node) && node.body !== undefined) ||
    ts.isClassDeclaration(node) ||
    ts.isInterfaceDeclaration(node) ||
    ts.isEnumDeclaration(node)
  )
}

function typescriptDefinition(file: ts.SourceFile, node: ts.Node, name: string, symbol: string): Definition {
  const start = node.getStart(file)
  const text = file.text.slice(start, node.end)
  const end = text.length - 1
  return {
    symbol,
    name,
    start,
    text,
    // All of these end in a brace, before which a comment may stand.
    changed: number => `${text.slice(0, end)}/* größe 🎉 ${number} */ }`,
  }
}

function typescriptErrors(text: string): number {
  // as: the parser sets it on every file, and the public type leaves it out.
  return (parsed(text) as unknown as { readonly parseDiagnostics: readonly unknown[] }).parseDiagnostics
    .length
}

/** Says of each function and class where it is, with what decorates it, in characters. */
const pythonProgram = `
import ast, json, sys
text = sys.stdin.buffer.read().decode("utf-8")
lines = text.split("\\n")
def at(line, column):
    return sum(len(each) + 1 for each in lines[:line - 1]) + len(lines[line - 1].encode()[:column].decode())
found = []
def add(node, around):
    if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)): return
    first = node.decorator_list[0] if node.decorator_list else None
    start = at(node.lineno, node.col_offset)
    if first is not None:
        line = lines[first.lineno - 1]
        start = at(first.lineno, len(line[:line.index("@")].encode()))
    end = at(node.end_lineno, node.end_col_offset)
    body = node.body[0]
    indent = lines[body.lineno - 1][:body.col_offset] if body.lineno > node.lineno else None
    found.append([node.name, around + node.name, start, end, indent])
    if isinstance(node, ast.ClassDef) and around == "":
        for each in node.body: add(each, node.name + ".")
try:
    for node in ast.parse(text).body: add(node, "")
    errors = 0
except SyntaxError:
    errors = 1
print(json.dumps([found, errors]))
`

type PythonAnswer = readonly [
  found: readonly (readonly [
    name: string,
    symbol: string,
    start: number,
    end: number,
    indent: string | null,
  ])[],
  errors: number,
]

/** None where the library of Python comes without its sources. */
function pythonKind(): readonly SourceKind[] {
  const { stdout } = Bun.spawnSync(["python3", "-c", "import json; print(json.__path__[0])"])
  const paths = filesBelow(join(stdout.toString().trim(), ".."), name => name.endsWith(".py"))
  if (paths.length < 20) return []
  const ask = (text: string): PythonAnswer => {
    const answer = Bun.spawnSync(["python3", "-c", pythonProgram], { stdin: Buffer.from(text) })
    return JSON.parse(answer.stdout.toString())
  }
  const definitions = (text: string) =>
    ask(text)[0].flatMap(([name, symbol, from, to, indent]) => {
      const characters = [...text]
      const start = characters.slice(0, from).join("").length
      const own = characters.slice(from, to).join("")
      return indent === null || indent.trim() !== ""
        ? []
        : [{ symbol, name, start, text: own, changed: (n: number) => `${own}\n${indent}größe = "🎉 ${n}"` }]
    })
  return [
    {
      extension: "py",
      text: random => textOf(paths, random, definitions),
      definitions,
      errors: text => ask(text)[1],
    },
  ]
}

type Template = (name: string, number: number) => string

const templates: readonly (readonly [fixture: string, extension: string, template: Template])[] = [
  ["queue.rs", "rs", (name, number) => `fn ${name}(x: i32) -> i32 {\n    // 🎉\n    x + ${number}\n}`],
  ["cache.go", "go", (name, number) => `func ${name}(x int) int {\n\t// 🎉\n\treturn x + ${number}\n}`],
  [
    "Account.java",
    "java",
    (name, number) => `class ${name} {\n    int f(int größe) {\n        return größe + ${number};\n    }\n}`,
  ],
  [
    "Orders.cs",
    "cs",
    (name, number) => `class ${name} {\n    int F(int größe) {\n        return größe + ${number};\n    }\n}`,
  ],
  ["mailer.rb", "rb", (name, number) => `def ${name}(x)\n  "🎉" + (x + ${number})\nend`],
  ["Cart.php", "php", (name, number) => `function ${name}($x) {\n    return $x + ${number}; // 🎉\n}`],
  ["matrix.cpp", "cpp", (name, number) => `int ${name}(int x) {\n  return x + ${number}; // 🎉\n}`],
  ["release.sh", "sh", (name, number) => `${name}() {\n  echo "🎉 ${number}"\n}`],
]

/** Definitions behind a text of which only the tests know that they are there, and exactly how they are written. */
const planted: readonly SourceKind[] = templates.map(([fixture, extension, template]) => {
  const names = ["plantedOne", "plantedTwo", "plantedThree"]
  const text = readFileSync(join(import.meta.dirname, "fixtures", `${fixture}.txt`), "utf8").trimEnd()
  return {
    extension,
    text: random => [text, ...names.map(name => template(name, random.whole(1_000))), ""].join("\n\n"),
    definitions: whole =>
      names.flatMap(name => {
        const pattern = template(name, 0)
          .replace(/[.*+?^${}()|[\]\\]/g, "\\$&")
          .replace("0", "\\d+")
        const match = new RegExp(pattern, "u").exec(whole)
        if (match === null) return []
        const [own] = match
        return [
          { symbol: name, name, start: match.index, text: own, changed: number => template(name, number) },
        ]
      }),
    errors: () => null,
  }
})

/** How many of the kinds, the last ones, are planted. */
export const plantedKinds = planted.length
