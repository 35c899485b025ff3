import grammar from "@vscode/tree-sitter-wasm/wasm/tree-sitter-cpp.wasm" with { type: "file" }
import type { CodeLanguage } from "../language.ts"

const declared = `(function_declarator declarator: [
  (identifier) @name
  (field_identifier) @name
  (destructor_name) @name
  (operator_name) @name
  (qualified_identifier scope: (_) @container name: [(identifier) (destructor_name) (operator_name)] @name)
])`

const definitions = `
  (function_definition declarator: ${declared}) @function
  (function_definition declarator: (pointer_declarator declarator: ${declared})) @function
  (function_definition declarator: (pointer_declarator declarator: (pointer_declarator declarator: ${declared}))) @function
  (function_definition declarator: (reference_declarator ${declared})) @function
  (class_specifier name: [
    (type_identifier) @name (template_type name: (type_identifier) @name)
  ] body: (_)) @class
  (struct_specifier name: [
    (type_identifier) @name (template_type name: (type_identifier) @name)
  ] body: (_)) @struct
  (union_specifier name: (type_identifier) @name body: (_)) @struct
  (enum_specifier name: (type_identifier) @name body: (_)) @enum
  (namespace_definition name: [(namespace_identifier) (nested_namespace_specifier)] @name) @module
  (alias_declaration name: (type_identifier) @name) @type
  (type_definition declarator: (type_identifier) @name) @type
  (concept_definition name: (identifier) @name) @type
  (preproc_function_def name: (identifier) @name) @macro
  (preproc_def name: (identifier) @name value: (_)) @macro
`

const shared = {
  grammar,
  definitions,
  identifiers: `[
    (identifier) (type_identifier) (field_identifier) (namespace_identifier)
  ] @identifier`,
  wrappers: { template_declaration: "always" },
  docComment: /^\/(?:\*[*!]|\/[/!])/,
} as const

export const cpp: CodeLanguage = {
  ...shared,
  name: "cpp",
  extensions: ["cpp", "cc", "cxx", "c++", "hpp", "hh", "hxx", "h++", "ipp", "inl"],
}

/** Parsed by the grammar of C++, because there is no other: macros and old style declarations may be errors. */
export const c: CodeLanguage = { ...shared, name: "c", extensions: ["c", "h"] }
