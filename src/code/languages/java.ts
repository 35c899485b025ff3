import grammar from "@vscode/tree-sitter-wasm/wasm/tree-sitter-java.wasm" with { type: "file" }
import type { CodeLanguage } from "../language.ts"

export const java: CodeLanguage = {
  name: "java",
  extensions: ["java"],
  grammar,
  definitions: `
    (class_declaration name: (identifier) @name) @class
    (record_declaration name: (identifier) @name) @class
    (interface_declaration name: (identifier) @name) @interface
    (annotation_type_declaration name: (identifier) @name) @interface
    (enum_declaration name: (identifier) @name) @enum
    (method_declaration name: (identifier) @name) @method
    (constructor_declaration name: (identifier) @name) @method
    (compact_constructor_declaration name: (identifier) @name) @method
    (field_declaration (modifiers) @_modifiers
      declarator: (variable_declarator name: (identifier) @name)
      (#match? @_modifiers "static.*final|final.*static")) @constant
  `,
  identifiers: "[(identifier) (type_identifier)] @identifier",
  docComment: /^\/\*\*/,
}
