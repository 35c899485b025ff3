import grammar from "@vscode/tree-sitter-wasm/wasm/tree-sitter-python.wasm" with { type: "file" }
import type { CodeLanguage } from "../language.ts"

export const python: CodeLanguage = {
  name: "python",
  extensions: ["py", "pyi", "pyw"],
  interpreters: ["python", "python3"],
  grammar,
  definitions: `
    (function_definition name: (identifier) @name) @function
    (class_definition name: (identifier) @name) @class
    (type_alias_statement left: (type (identifier) @name)) @type
    (assignment left: (identifier) @name) @top.variable
  `,
  identifiers: "(identifier) @identifier",
  wrappers: { decorated_definition: "always", expression_statement: "alone" },
  docComment: /^#(?!!)/,
}
