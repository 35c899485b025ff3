import grammar from "@vscode/tree-sitter-wasm/wasm/tree-sitter-bash.wasm" with { type: "file" }
import type { CodeLanguage } from "../language.ts"

export const bash: CodeLanguage = {
  name: "bash",
  extensions: ["sh", "bash"],
  fileNames: [".bashrc", ".profile", ".bash_profile"],
  interpreters: ["bash", "sh", "dash"],
  grammar,
  definitions: `
    (function_definition name: (word) @name) @function
    (variable_assignment name: (variable_name) @name) @top.variable
  `,
  identifiers: `[
    (function_definition name: (word) @identifier)
    (command name: (command_name (word) @identifier))
    (variable_name) @identifier
  ]`,
  wrappers: { declaration_command: "alone" },
  docComment: /^#(?!!)/,
}
