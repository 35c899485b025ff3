/**
 * Declared codes, keys and flags that nothing produces or reads yet, with the reason. The lists only shrink: an entry
 * that is used must be removed, or the test fails.
 */

/** Codes of the error page that no code of the product returns. */
export const unmadeCodes: Readonly<Record<string, string>> = {
  "ACODE-EXEC-002": "every tool of this version fails with a more exact code",
}

/** Settings that are made of a configuration key and never read. */
export const unreadSettings: Readonly<Record<string, string>> = {
  "toProjectCommands.setup": "run by the verb `cmd` of a later version",
  "toProjectCommands.format": "run by the verb `cmd` of a later version",
  "toProjectCommands.start": "run by the verb `cmd` of a later version",
}

const oneAtATime = "a process of this version runs one command at a time; test/exec tries the queue itself"
const laterVerb = "run by the verb `cmd` of a later version"

/** Declarations that occur in no test, as `scripts/declared-seen.ts` names them. */
export const unseenExceptions: Readonly<Record<string, string>> = {
  ...Object.fromEntries(Object.entries(unmadeCodes).map(([code, why]) => [`error: ${code}`, why])),
  "error: ACODE-EXE-008": oneAtATime,
  "key: execution.max_queued": oneAtATime,
  "error: ACODE-APPR-004":
    "an approval would have to expire between its answer and its use; test/gate tries it",
  "key: commands.setup": laterVerb,
  "key: commands.format": laterVerb,
  "key: commands.start": laterVerb,
  "key: model.connect_timeout_seconds": "counts for servers of other machines alone; test/provider tries it",
}

/** Declarations that only a bug of acode produces, so that no test can. */
export const unjudged: ReadonlySet<string> = new Set(["error: ACODE-INT-001", "exit: 70"])
