import type { SizeExceptions } from "./tidy-sizes.ts"

/**
 * What does not keep the rules today. Nothing may be added here: a new breach is fixed, an old one only shrinks,
 * and an entry that is no longer needed fails the test until it is removed.
 */
export const sizeExceptions: SizeExceptions = {}

/**
 * How many vague openings of doc comments and how many phrases that are not plain English each folder still has. The
 * numbers only go down.
 */
export const proseAllowances: Readonly<Record<string, readonly [openings: number, phrases: number]>> = {
  "src/app": [130, 148],
  "src/cli": [77, 141],
  "src/config": [0, 0],
  "src/exec": [0, 0],
  "src/gate": [0, 0],
  "src/models": [0, 0],
  "src/policy": [0, 0],
  "src/provider": [0, 0],
  "src/redaction": [0, 0],
  "src/sandbox": [0, 0],
  "src/skills": [0, 0],
  "src/store": [0, 0],
  "src/tools": [0, 0],
  "src/workspace": [0, 0],
}
