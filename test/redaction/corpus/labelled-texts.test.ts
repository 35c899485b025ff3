import { expect, test } from "bun:test"
import { createRedactor } from "../../../src/redaction/redactor.ts"
import {
  isLeaked,
  keptParts,
  type LabelledText,
  labelledTexts,
} from "../../support/hostile/labelled-texts.ts"

const redactor = createRedactor({ secretValues: [], extraPatterns: [] })
const secrets = [...labelledTexts("labelled-secrets.txt", 1), ...labelledTexts("labelled-services.txt", 1)]
const benign = labelledTexts("labelled-benign.txt", 1)

function isMissed(labelled: LabelledText): boolean {
  return isLeaked(labelled, redactor.redactText(labelled.text))
}

function isOverdone(labelled: LabelledText): boolean {
  const parts = redactor.redactText(labelled.text).split(/\[REDACTED:[a-z-]+\]/)
  return parts.join("|") !== keptParts(labelled).join("|")
}

test("at most two of the labelled secrets are missed", () => {
  expect(secrets.length).toBeGreaterThanOrEqual(250)
  expect(
    secrets
      .filter(isMissed)
      .map(({ label }) => label)
      .slice(2),
  ).toEqual([])
})

test("at most three of the labelled secrets take something of their surroundings along", () => {
  const overdone = secrets.filter(labelled => !isMissed(labelled) && isOverdone(labelled))
  expect(overdone.map(({ label }) => label).slice(3)).toEqual([])
})

test("at most one of the labelled benign texts is altered", () => {
  expect(benign.length).toBeGreaterThanOrEqual(150)
  const altered = benign.filter(({ text }) => redactor.redactText(text) !== text)
  expect(altered.map(({ label, text }) => [label, redactor.redactText(text)]).slice(1)).toEqual([])
})
