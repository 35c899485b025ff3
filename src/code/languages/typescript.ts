import tsxGrammar from "@vscode/tree-sitter-wasm/wasm/tree-sitter-tsx.wasm" with { type: "file" }
import typescriptGrammar from "@vscode/tree-sitter-wasm/wasm/tree-sitter-typescript.wasm" with {
  type: "file",
}
import type { CodeLanguage } from "../language.ts"

const definitions = `
  (function_declaration name: (identifier) @name) @function
  (generator_function_declaration name: (identifier) @name) @function
  (function_signature name: (identifier) @name) @function
  (variable_declarator name: (identifier) @name
    value: [(arrow_function) (function_expression) (generator_function)]) @function
  (assignment_expression left: (member_expression property: (property_identifier) @name)
    right: [(arrow_function) (function_expression) (generator_function)]) @function
  (class_declaration name: (type_identifier) @name) @class
  (abstract_class_declaration name: (type_identifier) @name) @class
  (variable_declarator name: (identifier) @name value: (class)) @class
  (interface_declaration name: (type_identifier) @name) @interface
  (type_alias_declaration name: (type_identifier) @name) @type
  (enum_declaration name: (identifier) @name) @enum
  (internal_module name: [(identifier) (nested_identifier) (string)] @name) @module
  (module name: [(identifier) (nested_identifier) (string)] @name) @module
  (method_definition name: [(property_identifier) (private_property_identifier)] @name) @method
  (method_signature name: [(property_identifier) (private_property_identifier)] @name) @method
  (abstract_method_signature name: [(property_identifier) (private_property_identifier)] @name) @method
  (public_field_definition name: [(property_identifier) (private_property_identifier)] @name
    value: [(arrow_function) (function_expression)]) @method
  (pair key: (property_identifier) @name value: [(arrow_function) (function_expression)]) @method
  (lexical_declaration kind: "const" (variable_declarator name: (identifier) @name) @top.constant)
  (lexical_declaration kind: "let" (variable_declarator name: (identifier) @name) @top.variable)
  (variable_declaration (variable_declarator name: (identifier) @name) @top.variable)
`

const shared = {
  definitions,
  identifiers: `[
    (identifier) (type_identifier) (property_identifier) (private_property_identifier)
    (shorthand_property_identifier) (shorthand_property_identifier_pattern)
  ] @identifier`,
  wrappers: {
    export_statement: "always",
    ambient_declaration: "always",
    lexical_declaration: "alone",
    variable_declaration: "alone",
    expression_statement: "alone",
  },
  docComment: /^\/\*\*/,
} as const

export const typescript: CodeLanguage = {
  ...shared,
  name: "typescript",
  extensions: ["ts", "mts", "cts"],
  interpreters: ["ts-node", "deno"],
  grammar: typescriptGrammar,
}

export const tsx: CodeLanguage = { ...shared, name: "tsx", extensions: ["tsx"], grammar: tsxGrammar }
