/**
 * What the documentation lists and nothing produces or reads yet, with the reason. Every list only shrinks: what has
 * come to be used must be taken off, or the test of it fails.
 */

/** Codes of the error page that no code of the product gives to anybody. */
export const unmadeCodes: Readonly<Record<string, string>> = {
  "ACODE-EXEC-002": "every tool of this version fails with a more exact code",
  E303: "made by splice_patch, one of the code tools of a later version",
  E304: "made by lsp_check, one of the code tools of a later version",
}

/** What is made of a configuration key and then read by nobody. */
export const unreadSettings: Readonly<Record<string, string>> = {
  "toProjectCommands.setup": "run by the verb `cmd` of a later version",
  "toProjectCommands.format": "run by the verb `cmd` of a later version",
  "toProjectCommands.start": "run by the verb `cmd` of a later version",
}
