import { describe, expect, test } from "bun:test"
import grammar from "@vscode/tree-sitter-wasm/wasm/tree-sitter-bash.wasm" with { type: "file" }
import runtime from "web-tree-sitter/web-tree-sitter.wasm" with { type: "file" }

describe("the files the shell parser is made of", () => {
  test.each([
    ["the grammar", grammar],
    ["the runtime", runtime],
  ])("%s is a path to WebAssembly", async (_, path) => {
    const bytes = await Bun.file(path).bytes()
    expect([...bytes.slice(0, 8)]).toEqual([0x00, 0x61, 0x73, 0x6d, 1, 0, 0, 0])
  })
})
