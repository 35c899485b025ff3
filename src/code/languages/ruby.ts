import grammar from "@vscode/tree-sitter-wasm/wasm/tree-sitter-ruby.wasm" with { type: "file" }
import type { CodeLanguage } from "../language.ts"

export const ruby: CodeLanguage = {
  name: "ruby",
  extensions: ["rb", "rake", "gemspec"],
  fileNames: ["Rakefile", "Gemfile"],
  interpreters: ["ruby"],
  grammar,
  definitions: `
    (method name: (_) @name) @method
    (singleton_method name: (_) @name) @method
    (class name: [(constant) @name (scope_resolution name: (constant) @name)]) @class
    (module name: [(constant) @name (scope_resolution name: (constant) @name)]) @module
    (assignment left: (constant) @name) @constant
  `,
  identifiers: `[
    (identifier) (constant) (instance_variable) (class_variable) (global_variable) (hash_key_symbol)
  ] @identifier`,
  docComment: /^#(?!!)/,
}
