import grammar from "@vscode/tree-sitter-wasm/wasm/tree-sitter-c-sharp.wasm" with { type: "file" }
import type { CodeLanguage } from "../language.ts"

export const csharp: CodeLanguage = {
  name: "csharp",
  extensions: ["cs"],
  grammar,
  definitions: `
    (class_declaration name: (identifier) @name) @class
    (record_declaration name: (identifier) @name) @class
    (struct_declaration name: (identifier) @name) @struct
    (interface_declaration name: (identifier) @name) @interface
    (enum_declaration name: (identifier) @name) @enum
    (delegate_declaration name: (identifier) @name) @type
    (namespace_declaration name: [(identifier) (qualified_name)] @name) @module
    (method_declaration name: (identifier) @name) @method
    (constructor_declaration name: (identifier) @name) @method
    (destructor_declaration name: (identifier) @name) @method
    (local_function_statement name: (identifier) @name) @function
    (field_declaration (modifier) @_modifier
      (variable_declaration (variable_declarator name: (identifier) @name))
      (#eq? @_modifier "const")) @constant
  `,
  identifiers: "(identifier) @identifier",
  docComment: /^(?:\/\/\/|\/\*\*)/,
}
