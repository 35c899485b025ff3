import grammar from "@vscode/tree-sitter-wasm/wasm/tree-sitter-go.wasm" with { type: "file" }
import type { CodeLanguage } from "../language.ts"

export const go: CodeLanguage = {
  name: "go",
  extensions: ["go"],
  grammar,
  definitions: `
    (function_declaration name: (identifier) @name) @function
    (method_declaration
      receiver: (parameter_list (parameter_declaration type: [
        (type_identifier) @container
        (generic_type type: (type_identifier) @container)
        (pointer_type (type_identifier) @container)
        (pointer_type (generic_type type: (type_identifier) @container))
      ]))
      name: (field_identifier) @name) @method
    (type_spec name: (type_identifier) @name type: (struct_type)) @struct
    (type_spec name: (type_identifier) @name type: (interface_type)) @interface
    (type_spec name: (type_identifier) @name) @type
    (type_alias name: (type_identifier) @name) @type
    (const_spec name: (identifier) @name) @top.constant
    (var_spec name: (identifier) @name) @top.variable
  `,
  identifiers: `[
    (identifier) (type_identifier) (field_identifier) (package_identifier)
  ] @identifier`,
  wrappers: {
    type_declaration: "alone",
    const_declaration: "alone",
    var_declaration: "alone",
    var_spec_list: "alone",
  },
  docComment: /^\/[/*]/,
}
