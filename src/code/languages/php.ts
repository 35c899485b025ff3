import grammar from "@vscode/tree-sitter-wasm/wasm/tree-sitter-php.wasm" with { type: "file" }
import type { CodeLanguage } from "../language.ts"

export const php: CodeLanguage = {
  name: "php",
  extensions: ["php", "phtml"],
  interpreters: ["php"],
  grammar,
  definitions: `
    (function_definition name: (name) @name) @function
    (method_declaration name: (name) @name) @method
    (class_declaration name: (name) @name) @class
    (interface_declaration name: (name) @name) @interface
    (trait_declaration name: (name) @name) @trait
    (enum_declaration name: (name) @name) @enum
    (namespace_definition name: (namespace_name) @name body: (_)) @module
    (const_declaration (const_element . (name) @name)) @constant
  `,
  identifiers: "(name) @identifier",
  docComment: /^\/\*\*/,
}
