import { expect, test } from "bun:test"
import { emptyGrant } from "../../../src/domain/effect.ts"
import { decide } from "../../../src/policy/decide.ts"
import { ruleSet } from "../../../src/policy/rules/rules.ts"
import { loadShellParser } from "../../../src/policy/shell/parser.ts"
import { noScopes } from "../../../src/policy/yes-scopes.ts"
import { shippedDefaults } from "../../support/plan/shipped-decisions.ts"

const parser = await loadShellParser()
const policy = {
  root: "/project",
  home: "/home/ada",
  defaults: shippedDefaults,
  yes: noScopes,
  isAirgapped: false,
  parser,
}

test.each([
  ["npm test"],
  ["pnpm test"],
  ["yarn test"],
  ["bun run test"],
  ["bun test"],
  ["cargo test"],
  ["go test ./..."],
  ["dotnet test"],
  ["make test"],
  ["pytest"],
])("%s, which acode may detect, runs in a sandbox without being asked", line => {
  const run = { argv: line.split(" ") }
  const effect = { kind: "execute", run, cwd: ".", network: "none", confined: true } as const
  const { decision, confined } = decide([effect], emptyGrant, ruleSet([]), policy)
  expect({ decision, confined }).toEqual({ decision: "allow", confined: true })
})
