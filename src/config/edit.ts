import { statSync } from "node:fs"
import { dirname } from "node:path"
import { errnoOf, messageOf } from "../base/assert.ts"
import { type Json, sha256Hex } from "../base/canonical.ts"
import { Failure } from "../domain/failure.ts"
import { systemReport } from "../domain/system-report.ts"
import { defaultConfig } from "./defaults.ts"
import { type ConfigSource, readConfigFile } from "./file.ts"
import { defaultLeaves, documentOf, type Leaves, leavesOf, sectionKeys, unknownKey } from "./keys.ts"
import { checkConfigText, validateLeaf } from "./load.ts"
import { withDirectoryLock } from "./lock.ts"
import { isSameValue } from "./merge.ts"
import { type ConfigProblem, configFailure } from "./problem.ts"
import { allowedAt, valueKind } from "./reference.ts"
import { writeAtomically } from "./write.ts"
import { readYaml } from "./yaml.ts"
import { editedYaml } from "./yaml-edit.ts"

export interface ConfigEdit {
  readonly source: ConfigSource
  readonly key: string
  /** The value as typed: text for a text key, otherwise a YAML number, boolean, null or list. */
  readonly valueText: string
  /** Creates the directory of the file; called only after the value was found valid. */
  readonly ensureDirectory: () => void
}

export interface EditedConfig {
  readonly value: Json
  /** Null when the file was created. */
  readonly hashBefore: string | null
  readonly hashAfter: string
}

/**
 * Sets one key and keeps every comment and the form of everything else. The whole result is validated before it is
 * written; when it is not valid, the file stays unchanged. Two calls at the same time both take effect.
 */
export async function setConfigValue(edit: ConfigEdit): Promise<EditedConfig> {
  const { key, source } = edit
  if (sectionKeys.includes(key)) throw isSection(key)
  if (!defaultLeaves.has(key)) throw unknownKey(key)
  const value = await parsedValue(edit)
  try {
    edit.ensureDirectory()
    return await withDirectoryLock(dirname(source.path), () => rewrite(edit, value))
  } catch (thrown) {
    if (thrown instanceof Failure) throw thrown
    const report = systemReport(thrown)
    if (report !== null) throw new Failure({ ...report, where: source.shown }, { cause: thrown })
    throw configFailure([
      problem(source.shown, "", `cannot be written: ${errnoOf(thrown) ?? messageOf(thrown)}`),
    ])
  }
}

/** Returns the typed text as a value of the key's type. Throws ACODE-CFG-003, which names the allowed values. */
async function parsedValue({ key, valueText }: ConfigEdit): Promise<Json> {
  const refuse = (message: string, allowed: string | null): never => {
    throw configFailure([{ ...problem("command line", key, message), code: "ACODE-CFG-003", allowed }])
  }
  const value = valueKind(key) === "text" ? valueText : yamlValue(valueText)
  if (value === undefined) return refuse("is not a YAML value", allowedAt(key.split(".")))
  const [first] = await validateLeaf(key, value)
  return first === undefined ? value : refuse(first.message, first.allowed)
}

function yamlValue(text: string): Json | undefined {
  const read = readYaml(text)
  return "tree" in read ? read.tree.value : undefined
}

async function rewrite(edit: ConfigEdit, value: Json): Promise<EditedConfig> {
  const { source, key } = edit
  const read = readConfigFile({ ...source, mustExist: false })
  if (read.kind === "unusable") throw configFailure([read.problem])
  const before = withVersion(read.kind === "read" ? read.text : "")
  const expected = new Map(await leavesBefore(before, source)).set(key, value)
  const refusals: (readonly ConfigProblem[])[] = []
  for (const text of editedYaml(before, key.split("."), value)) {
    const { leaves, problems } = await checkConfigText(text, source.shown)
    refusals.push(problems)
    if (leaves === null || !isSameLeaves(leaves, expected)) continue
    const path = read.kind === "read" ? read.realPath : source.path
    writeAtomically(path, text, read.kind === "read" ? statSync(path).mode & 0o777 : 0o644)
    const hashBefore = read.kind === "read" ? read.hash : null
    return { value, hashBefore, hashAfter: `sha256:${sha256Hex(text)}` }
  }
  throw notEdited(edit, refusals)
}

/** Returns the failure of an edit: invalid values elsewhere in the file, or else a form that prevents the edit. */
function notEdited({ source, key }: ConfigEdit, refusals: readonly (readonly ConfigProblem[])[]): Failure {
  const invalid = refusals.find(problems => problems.some(({ code }) => code === "ACODE-CFG-003"))
  if (invalid !== undefined) return configFailure(invalid)
  const message = "cannot be changed without changing other parts of the file; edit the file by hand"
  return configFailure([problem(source.shown, key, message)])
}

async function leavesBefore(text: string, source: ConfigSource): Promise<Leaves> {
  const read = readYaml(text)
  if ("tree" in read) return leavesOf(read.tree.value)
  throw configFailure((await checkConfigText(text, source.shown)).problems)
}

/** Adds the version that each file needs to a file without values; its comments stay. */
function withVersion(text: string): string {
  const read = readYaml(text)
  if (!("tree" in read) || read.tree.value !== null) return text
  const separator = text === "" || text.endsWith("\n") ? "" : "\n"
  return `${text}${separator}schema_version: "${defaultConfig.schema_version}"\n`
}

function isSameLeaves(a: Leaves, b: Leaves): boolean {
  return isSameValue(documentOf(a), documentOf(b))
}

function isSection(key: string): Failure {
  const inner = [...defaultLeaves.keys()].filter(leaf => leaf.startsWith(`${key}.`))
  return new Failure({
    kind: "usage",
    code: "ACODE-CFG-005",
    message: `${key} is a section, not a key`,
    where: key,
    hint: `set one of its keys: ${inner.join(", ")}`,
  })
}

function problem(source: string, key: string, message: string): ConfigProblem {
  return { code: "ACODE-CFG-001", source, line: null, column: null, key, message, allowed: null }
}
