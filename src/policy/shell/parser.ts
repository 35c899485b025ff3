/// <reference path="./shell-wasm.ts" />
import bashGrammar from "@vscode/tree-sitter-wasm/wasm/tree-sitter-bash.wasm" with { type: "file" }
import { Language, Parser } from "web-tree-sitter"
import runtime from "web-tree-sitter/web-tree-sitter.wasm" with { type: "file" }
import { deceivingCharacter, type ParsedScript, type ShellParser } from "./script.ts"
import { copyTree } from "./syntax.ts"
import { readTree } from "./tree.ts"
import { UnreadableScript } from "./word.ts"

/** Longer than any command that a user would read before answering. */
const scriptCharactersMax = 16_384

let loading: Promise<ShellParser> | null = null

/**
 * Loads the grammar on first use, which takes some tens of milliseconds. A compiled binary embeds both files, so it
 * works without node_modules.
 */
export function loadShellParser(): Promise<ShellParser> {
  loading ??= load()
  return loading
}

async function load(): Promise<ShellParser> {
  const wasmBinary = await Bun.file(runtime).bytes()
  await Parser.init({ wasmBinary })
  const grammar = await Language.load(await Bun.file(bashGrammar).bytes())
  const parser = new Parser()
  parser.setLanguage(grammar)
  return { parse: text => parseScript(parser, text) }
}

function parseScript(parser: Parser, text: string): ParsedScript {
  if (text.trim() === "") return unreadable("it is empty")
  if (text.length > scriptCharactersMax)
    return unreadable(`it is longer than ${scriptCharactersMax} characters`)
  const deceiving = deceivingCharacter(text)
  if (deceiving !== null) return unreadable(`it contains ${deceiving}, which hides its content`)
  const tree = parser.parse(text)
  if (tree === null) return unreadable("it could not be parsed")
  try {
    if (tree.rootNode.hasError) return unreadable("it is not a complete shell command")
    return readTree(copyTree(tree.rootNode, text), text)
  } catch (error) {
    if (error instanceof UnreadableScript) return unreadable(error.message)
    throw error
  } finally {
    tree.delete()
  }
}

function unreadable(reason: string): ParsedScript {
  return { readable: false, reason }
}
