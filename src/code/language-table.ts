import { Language, Parser, Query } from "web-tree-sitter"
import runtime from "web-tree-sitter/web-tree-sitter.wasm" with { type: "file" }
import type { CodeQueries } from "./facts.ts"
import type { CodeLanguage, DataLanguage } from "./language.ts"
import { bash } from "./languages/bash.ts"
import { c, cpp } from "./languages/cpp.ts"
import { csharp } from "./languages/csharp.ts"
import { go } from "./languages/go.ts"
import { java } from "./languages/java.ts"
import { javascript } from "./languages/javascript.ts"
import { php } from "./languages/php.ts"
import { python } from "./languages/python.ts"
import { ruby } from "./languages/ruby.ts"
import { rust } from "./languages/rust.ts"
import { tsx, typescript } from "./languages/typescript.ts"

/** Every language with a grammar. */
export const codeLanguages: readonly CodeLanguage[] = [
  typescript,
  tsx,
  javascript,
  python,
  rust,
  go,
  java,
  cpp,
  c,
  csharp,
  ruby,
  php,
  bash,
]

const byExtension = new Map(codeLanguages.flatMap(item => item.extensions.map(name => [name, item])))
const byFileName = new Map(codeLanguages.flatMap(item => (item.fileNames ?? []).map(name => [name, item])))
const byInterpreter = new Map(
  codeLanguages.flatMap(item => (item.interpreters ?? []).map(name => [name, item])),
)
const dataByExtension = new Map<string, DataLanguage>([
  ["json", "json"],
  ["jsonc", "json"],
  ["yaml", "yaml"],
  ["yml", "yaml"],
])

/** Returns the language of a file; null when its name, and its first line where it has no extension, say none. */
export function languageOfFile(
  path: string,
  bytes: Uint8Array | undefined,
): CodeLanguage | DataLanguage | null {
  const name = path.slice(path.lastIndexOf("/") + 1)
  const named = byFileName.get(name)
  if (named !== undefined) return named
  const dot = name.lastIndexOf(".")
  if (dot > 0) {
    const extension = name.slice(dot + 1).toLowerCase()
    return byExtension.get(extension) ?? dataByExtension.get(extension) ?? null
  }
  return bytes === undefined ? null : languageOfFirstLine(bytes)
}

const firstLineBytesMax = 200

function languageOfFirstLine(bytes: Uint8Array): CodeLanguage | null {
  const hash = 0x23
  const bang = 0x21
  if (bytes[0] !== hash || bytes[1] !== bang) return null
  const head = new TextDecoder("latin1").decode(bytes.subarray(0, firstLineBytesMax))
  const [line = ""] = head.split("\n", 1)
  const words = line.slice(2).trim().split(/\s+/)
  const program = words.map(word => word.slice(word.lastIndexOf("/") + 1))
  const interpreter = program[0] === "env" ? program.slice(1).find(word => !word.startsWith("-")) : program[0]
  return byInterpreter.get(interpreter ?? "") ?? null
}

interface LoadedLanguage {
  readonly parser: Parser
  readonly queries: CodeQueries
}

const loaded = new Map<string, Promise<LoadedLanguage>>()
let runtimeReady: Promise<void> | null = null

/** Loads the grammar of a language on first use. */
export function loadLanguage(language: CodeLanguage): Promise<LoadedLanguage> {
  const known = loaded.get(language.name)
  if (known !== undefined) return known
  const loading = load(language)
  loaded.set(language.name, loading)
  return loading
}

async function load({
  grammar,
  definitions,
  identifiers,
  wrappers = {},
}: CodeLanguage): Promise<LoadedLanguage> {
  runtimeReady ??= Bun.file(runtime)
    .bytes()
    .then(wasmBinary => Parser.init({ wasmBinary }))
  await runtimeReady
  const language = await Language.load(await grammarBytes(grammar))
  const parser = new Parser()
  parser.setLanguage(language)
  const wrapping = Object.keys(wrappers).map(type => `(${type})`)
  return {
    parser,
    queries: {
      definitions: new Query(language, definitions),
      identifiers: new Query(language, identifiers),
      errors: new Query(language, "[(ERROR) (MISSING)] @error"),
      wrappers: wrapping.length === 0 ? null : new Query(language, `[${wrapping.join(" ")}] @wrapper`),
    },
  }
}

/** The compiled program embeds the grammars compressed; they are plain files in node_modules. */
async function grammarBytes(path: string): Promise<Uint8Array> {
  const bytes = await Bun.file(path).bytes()
  const isCompressed = bytes[0] === 0x1f && bytes[1] === 0x8b
  return isCompressed ? Bun.gunzipSync(bytes) : bytes
}
