import grammar from "@vscode/tree-sitter-wasm/wasm/tree-sitter-javascript.wasm" with { type: "file" }
import type { CodeLanguage } from "../language.ts"

export const javascript: CodeLanguage = {
  name: "javascript",
  extensions: ["js", "mjs", "cjs", "jsx"],
  interpreters: ["node", "bun"],
  grammar,
  definitions: `
    (function_declaration name: (identifier) @name) @function
    (generator_function_declaration name: (identifier) @name) @function
    (variable_declarator name: (identifier) @name
      value: [(arrow_function) (function_expression) (generator_function)]) @function
    (assignment_expression left: (member_expression property: (property_identifier) @name)
      right: [(arrow_function) (function_expression) (generator_function)]) @function
    (class_declaration name: (identifier) @name) @class
    (variable_declarator name: (identifier) @name value: (class)) @class
    (method_definition name: [(property_identifier) (private_property_identifier)] @name) @method
    (field_definition property: [(property_identifier) (private_property_identifier)] @name
      value: [(arrow_function) (function_expression)]) @method
    (pair key: (property_identifier) @name value: [(arrow_function) (function_expression)]) @method
    (lexical_declaration kind: "const" (variable_declarator name: (identifier) @name) @top.constant)
    (lexical_declaration kind: "let" (variable_declarator name: (identifier) @name) @top.variable)
    (variable_declaration (variable_declarator name: (identifier) @name) @top.variable)
  `,
  identifiers: `[
    (identifier) (property_identifier) (private_property_identifier)
    (shorthand_property_identifier) (shorthand_property_identifier_pattern)
  ] @identifier`,
  wrappers: {
    export_statement: "always",
    lexical_declaration: "alone",
    variable_declaration: "alone",
    expression_statement: "alone",
  },
  docComment: /^\/\*\*/,
}
