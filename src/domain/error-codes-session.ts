import type { ErrorCode } from "./error-code.ts"

/** Of sessions: how one ends before its goal, who may drive it, and putting back what it changed. */
export const sessionErrorCodes: readonly ErrorCode[] = [
  {
    code: "ACODE-ORCH-001",
    meaning: "A stage failed: a check or a review that nothing is left to try for, or one without a verdict.",
    action: "`acode session show` tells what it was doing and why it failed.",
  },
  {
    code: "ACODE-ORCH-002",
    meaning: "A stage did not end before its deadline.",
    action: "Give it more time with its --…-timeout flag, or make the task smaller, then resume.",
  },
  {
    code: "ACODE-ORCH-003",
    meaning: "The session took as many cycles as it may and did not reach its goal.",
    action: "Look at what the last cycle failed on; --max-cycles allows more.",
  },
  {
    code: "ACODE-ORCH-004",
    meaning:
      "The session needs a person: it makes no progress, its retries or tokens are spent, or nobody knows what a call did.",
    action: "Look at it with `acode session show`, answer or mend what it names, then resume.",
  },
  {
    code: "ACODE-ORCH-005",
    meaning: "What a stage must know does not fit into its share of the context.",
    action:
      "Make the task or its files smaller, or raise --max-context-tokens or model.parameters.context_window.",
  },
  {
    code: "ACODE-ORCH-006",
    meaning: "A stage cannot follow the one before it.",
    action: "`acode session validate` shows where the session stands.",
  },
  {
    code: "ACODE-ORCH-007",
    meaning: "The session was cancelled.",
    action: "What it did until then is in `acode session show`; `acode session undo` puts it back.",
  },
  {
    code: "ACODE-ORCH-008",
    meaning: "Another acode works in this workspace; two at a time would spoil each other's changes.",
    action: "Wait until it is done, or stop it; `acode session list` shows what runs.",
  },
  {
    code: "ACODE-UNDO-001",
    meaning: "There is nothing to undo: the session changed nothing that is left.",
    action: "`acode session show` tells what a session changed; name another one.",
  },
  {
    code: "ACODE-UNDO-002",
    meaning: "The session was undone already.",
    action: "Run the plan again to have its changes back.",
  },
  {
    code: "ACODE-UNDO-003",
    meaning:
      "The session has a call without an outcome: its process died in the middle of it, or makes it now.",
    action: "`acode resume` goes on with it and `acode cancel` ends it; then it can be undone.",
  },
]
