import { oneLine } from "../base/text.ts"
import { Failure, type FailureReport } from "../domain/failure.ts"
import type { Protocol } from "../domain/model-choice.ts"
import type { ModelFailure } from "../provider/contract.ts"
import { protocolRows, protocolTable, type UsualServer } from "../provider/protocol.ts"

/** Returns the failure of a server that could not be used before a session began. */
export function serverProblem({ kind, message }: ModelFailure, endpoint: string): Failure {
  const report = { message: oneLine(message, 500), where: endpoint }
  switch (kind) {
    case "aborted":
      return new Failure({
        ...report,
        kind: "interrupted",
        code: "ACODE-MODEL-001",
        hint: "no session was started",
      })
    case "refused":
      return new Failure({
        ...report,
        kind: "denied",
        code: "ACODE-MODEL-004",
        hint: "`acode config get mode` prints the mode; --mode changes it for a session",
      })
    case "auth":
      return new Failure({
        ...report,
        ...keyProblem,
        message: `the server refuses the key: ${report.message}`,
      })
    case "notFound":
      return new Failure({ ...report, ...modelProblem })
    case "rateLimited":
    case "overloaded":
      return new Failure({
        ...report,
        kind: "unavailable",
        code: "ACODE-MODEL-001",
        hint: "the server is there, and busy or still loading its model; try again in a moment",
      })
    case "timeout":
    case "unavailable":
      return new Failure({
        ...report,
        kind: "unavailable",
        code: "ACODE-MODEL-001",
        hint: "check whether the server runs; `acode doctor` tests it, model.endpoint names another one",
      })
    default:
      return new Failure({
        ...report,
        kind: "unavailable",
        code: "ACODE-MODEL-006",
        hint: "check that it is a model server with the protocol in model.provider",
      })
  }
}

const keyProblem = {
  kind: "unavailable",
  code: "ACODE-MODEL-008",
  hint: `set ${protocolRows.flatMap(([, row]) => row.keyVariable ?? []).join(" or ")} to a key of that provider`,
} as const satisfies Partial<FailureReport>

const modelProblem = {
  kind: "unavailable",
  code: "ACODE-MODEL-007",
  hint: "`acode models list` shows the available models",
} as const satisfies Partial<FailureReport>

export function noKey(variable: string, endpoint: string): Failure {
  const message = `${endpoint} needs an API key and ${variable} is not set`
  return new Failure({ ...keyProblem, message, where: endpoint, hint: `set ${variable}` })
}

const namesShownMax = 20

/** Returns the failure of a missing model. `name` is null when none was given where one is needed. */
export function noSuchModel(name: string | null, there: readonly string[], endpoint: string): Failure {
  const shown = there.slice(0, namesShownMax).map(each => oneLine(each, 100))
  const more = there.length > shown.length ? `, and ${there.length - shown.length} more` : ""
  const listed = there.length === 0 ? "it has none" : `it has ${shown.join(", ")}${more}`
  const what = name === null ? "no model is named" : `the server has no model ${oneLine(name, 100)}`
  return new Failure({ ...modelProblem, message: `${what}; ${listed}`, where: endpoint })
}

export function noServer(searched: readonly UsualServer[], protocol: Protocol | null): Failure {
  const places = searched.map(({ title, endpoint }) => `${title} (${endpoint})`).join(", ")
  const starts = [...new Set(searched.map(({ start }) => start))].join(", or ")
  const company = protocol === null ? null : protocolTable[protocol].company
  const elsewhere =
    company === null ? "" : `; for ${company.name}'s own: --mode burst --model ${protocol}/NAME`
  return new Failure({
    kind: "unavailable",
    code: "ACODE-MODEL-001",
    message: `no model server was found on this machine; searched for ${places}`,
    where: "model",
    hint: `start one (${starts}) or set model.endpoint${elsewhere}`,
  })
}
