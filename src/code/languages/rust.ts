import grammar from "@vscode/tree-sitter-wasm/wasm/tree-sitter-rust.wasm" with { type: "file" }
import type { CodeLanguage } from "../language.ts"

export const rust: CodeLanguage = {
  name: "rust",
  extensions: ["rs"],
  grammar,
  definitions: `
    (function_item name: (identifier) @name) @function
    (function_signature_item name: (identifier) @name) @function
    (struct_item name: (type_identifier) @name) @struct
    (union_item name: (type_identifier) @name) @struct
    (enum_item name: (type_identifier) @name) @enum
    (trait_item name: (type_identifier) @name) @trait
    (type_item name: (type_identifier) @name) @type
    (impl_item type: [
      (type_identifier) @name
      (generic_type type: (type_identifier) @name)
      (scoped_type_identifier name: (type_identifier) @name)
      (reference_type type: (type_identifier) @name)
    ]) @impl
    (mod_item name: (identifier) @name body: (_)) @module
    (const_item name: (identifier) @name) @constant
    (static_item name: (identifier) @name) @constant
    (macro_definition name: (identifier) @name) @macro
  `,
  identifiers: `[
    (identifier) (type_identifier) (field_identifier) (shorthand_field_identifier)
  ] @identifier`,
  docComment: /^\/(?:\/\/(?!\/)|\*\*(?!\*))/,
  attribute: { type: "attribute_item", begin: "#[" },
}
