import type { ErrorCode } from "./error-code.ts"

/** Of the model that a session talks to, and of the files that can stand in for one. */
export const modelErrorCodes: readonly ErrorCode[] = [
  {
    code: "ACODE-MODEL-001",
    meaning: "No model server was found or reached: none runs here, or the configured one does not answer.",
    action:
      "Start one (`ollama serve`, LM Studio, `llama-server`) or set model.endpoint; `acode doctor` looks.",
  },
  {
    code: "ACODE-MODEL-002",
    meaning: "A script is not valid; the message lists everything that is wrong with it.",
    action: "Correct what is named; `acode schema script` describes the format.",
  },
  {
    code: "ACODE-MODEL-003",
    meaning: "A recording cannot be replayed or written on: it holds something else, or a damaged line.",
    action: "Name a file that --record has written, or record to a new one.",
  },
  {
    code: "ACODE-MODEL-004",
    meaning:
      "The mode forbids it: a server that is not on this machine, or a mode that is not possible here.",
    action:
      "Use a model of this machine, or let one session use another: --mode burst --model PROVIDER/NAME.",
  },
  {
    code: "ACODE-MODEL-005",
    meaning: "Burst lacks a consent: nobody named, in this session, the provider that may get what leaves.",
    action: "Type it with the provider: --mode burst --model anthropic/NAME.",
  },
  {
    code: "ACODE-MODEL-006",
    meaning: "The server answered in a way that cannot be used; perhaps it is no model server of that kind.",
    action: "Check model.endpoint and model.provider; `acode models probe` shows what the server does.",
  },
  {
    code: "ACODE-MODEL-007",
    meaning: "The server has no such model, or none was named where one has to be.",
    action: "Name one that is there, with --model or model.name; `acode models list` shows them.",
  },
  {
    code: "ACODE-MODEL-008",
    meaning: "The server needs an API key: none is set, or it refuses the one that is.",
    action: "Set ANTHROPIC_API_KEY or OPENAI_API_KEY.",
  },
]
