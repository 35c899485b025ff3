import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { openTransactions } from "../../../src/workspace/transaction/transactions.ts"
import type { Random } from "../../soak/random.ts"
import type { EditorToken } from "./foreign-editor-program.ts"
import { layerWorkspace } from "./killed-merge.ts"
import { runInOverlay } from "./overlay-command.ts"

export interface EditedMerges {
  readonly violations: readonly string[]
  readonly edits: number
  readonly merged: number
  readonly conflicts: number
}

/**
 * Merges and undoes commands while a person edits the same files without a pause. Each content that the person did not
 * replace or remove is afterwards in the workspace, in git, or, when its path was named, in a layer; one that was there
 * before the command began may also be in the layer that replaced it.
 */
export async function editedMerges(random: Random, rounds: number, usesGit: boolean): Promise<EditedMerges> {
  using place = layerWorkspace()
  const { root, directory } = place
  const outside = join(directory, "../outside")
  for (const path of [join(root, "d/e"), join(root, "m"), outside]) mkdirSync(path, { recursive: true })
  for (const path of filesOfBoth) writeFileSync(join(root, path), `first ${path}\n`)
  if (usesGit) initBranches(root)
  const program = join(import.meta.dir, "foreign-editor-program.ts")
  const seed = String(random.whole(2 ** 31))
  const editor = Bun.spawn([process.execPath, program, root, outside, seed, usesGit ? "git" : ""], {
    stdin: "pipe",
    stdout: "pipe",
    stderr: "inherit",
  })
  const output = linesOf(editor.stdout)
  await output.next()
  using transactions = openTransactions({ root, directory })
  const named = new Set<string>()
  const begun = new Map<string, bigint>()
  const counts = { merged: 0, conflicts: 0 }
  const note = (paths: readonly string[]) => {
    for (const path of paths) named.add(path)
  }
  for (let round = 0; round < rounds; round++) {
    const id = `trn_${round}`
    using transaction = transactions.begin(id)
    begun.set(id, BigInt(sinceOf(directory, id)))
    await runInOverlay(
      transaction.layers,
      Array.from({ length: 1 + random.whole(8) }, () => command(random)).join("\n"),
    )
    const result = await transaction.commit(
      () => "merge",
      work => work(),
      { rest: random.whole(4) > 0 },
    )
    transaction[Symbol.dispose]()
    counts.merged += result.merged.length
    counts.conflicts += result.conflicts.length
    note(result.conflicts.map(({ path }) => path))
    if (random.whole(2) === 0) note((await transactions.undo(id, work => work())).foreign)
  }
  editor.stdin.end()
  const tokens: readonly EditorToken[] = JSON.parse((await output.next()).value ?? "[]")
  await editor.exited
  const violations = lostTokens(place.root, outside, directory, tokens, named, begun)
  return { violations, edits: tokens.length, ...counts }
}

const filesOfBoth = ["", "d/", "d/e/", "m/"].flatMap(place => [..."abcfghij"].map(name => place + name))

function command(random: Random): string {
  const path = random.oneOf(filesOfBoth)
  const text = `command ${random.whole(2 ** 31)}`
  switch (random.whole(8)) {
    case 0:
      return `rm -f ${path}`
    case 1:
      return `echo ${text} > ${path}.new; mv -f ${path}.new ${path}`
    case 2:
      return `rm -rf ${random.oneOf(["d/e", "m"])}`
    case 3:
      return "rm -rf m; mkdir -p m/n; echo made > m/n/x; echo made > m/a"
    case 4:
      return `mv ${path} ${random.oneOf(["moved", "d/moved"])}`
    case 5:
      return "mkdir -p d/e; chmod 700 d/e"
    default:
      return `echo ${text} >> ${path}`
  }
}

function initBranches(root: string): void {
  const script =
    "git init -q && git config user.name p && git config user.email p@x && git add -A && git commit -qm first && " +
    "git branch one && git branch two"
  Bun.spawnSync(["sh", "-c", script], { cwd: root })
}

function sinceOf(directory: string, id: string): string {
  return JSON.parse(readFileSync(join(directory, id, "begun"), "utf8")).sinceNs
}

function lostTokens(
  root: string,
  outside: string,
  directory: string,
  tokens: readonly EditorToken[],
  named: ReadonlySet<string>,
  begun: ReadonlyMap<string, bigint>,
): readonly string[] {
  const inPlace = new Set([...contentsBelow(root), ...contentsBelow(outside)].map(({ content }) => content))
  const inLayers = Map.groupBy(contentsBelow(directory), ({ content }) => content)
  const log = Bun.spawnSync(["git", "-C", root, "log", "--all", "-p", "--format="]).stdout.toString()
  const inGit = new Set(log.split("\n").flatMap(line => (line.startsWith("+") ? [`${line.slice(1)}\n`] : [])))
  return tokens.flatMap(({ token, ctimeNs, isRetired }) => {
    if (isRetired || inPlace.has(token) || inGit.has(token)) return []
    const layers = inLayers.get(token)
    if (layers === undefined) return [`lost: ${token.trim()}`]
    const isExplained = layers.some(({ path }) => {
      const [id = "", kind = "", ...names] = path.split("/")
      const where = kind === "removed" ? removedPath(directory, id, names) : names.join("/")
      return BigInt(ctimeNs) < (begun.get(id) ?? 0n) || isNamed(named, where)
    })
    return isExplained ? [] : [`displaced without being named: ${token.trim()} at ${layers[0]?.path}`]
  })
}

function removedPath(directory: string, id: string, [slot, ...names]: readonly string[]): string {
  const lines = readFileSync(join(directory, id, "journal"), "utf8")
    .split("\n")
    .filter(line => line !== "")
  const step = lines
    .map(line => JSON.parse(line))
    .find(each => each.kind === "remove" && each.slot === Number(slot))
  return [step?.path, ...names].join("/")
}

function isNamed(named: ReadonlySet<string>, path: string): boolean {
  return [...named].some(each => path === each || path.startsWith(`${each}/`))
}

function contentsBelow(directory: string): readonly { readonly path: string; readonly content: string }[] {
  return readdirSync(directory, { recursive: true, withFileTypes: true }).flatMap(entry => {
    const at = join(entry.parentPath, entry.name)
    if (!entry.isFile() || at.includes("/.git/")) return []
    return [{ path: at.slice(directory.length + 1), content: readFileSync(at, "utf8") }]
  })
}

async function* linesOf(stream: ReadableStream<Uint8Array>): AsyncGenerator<string, string> {
  let text = ""
  const decoder = new TextDecoder()
  for await (const chunk of stream) {
    text += decoder.decode(chunk, { stream: true })
    for (let end = text.indexOf("\n"); end >= 0; end = text.indexOf("\n")) {
      yield text.slice(0, end)
      text = text.slice(end + 1)
    }
  }
  return text
}
