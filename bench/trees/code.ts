import { cpSync, readdirSync, readFileSync, writeFileSync } from "node:fs"
import { join, relative } from "node:path"
import { openUpdatedIndex } from "../../src/app/wiring/code.ts"
import { askCode } from "../../src/app/wiring/code-questions.ts"
import { outlineOfCode } from "../../src/code/outline.ts"
import type { CodeIndex } from "../../src/store/code-index/contract.ts"
import { repositoryRoot } from "../../test/support/acode.ts"
import { missingProgram } from "../../test/support/requirement.ts"
import { timingOf } from "../measure.ts"
import { peakMb } from "../peak-memory.ts"
import { builtProgram, openProduct, type Product } from "../product.ts"
import { atLeast, atMost, type Figure } from "../report.ts"
import { sharedReferences } from "./language-server.ts"

const filesMax = 2_700

/**
 * Measures the code index on the TypeScript files of a tree: a checkout that `--tree` names, else the sources and type
 * declarations of the packages that are installed here.
 */
export async function codeFigures(tree: string | undefined): Promise<Figure[]> {
  using product = openProduct()
  const paths = copiedFrom(tree ?? join(repositoryRoot, "node_modules"), product.workspace.root)
  process.stderr.write(`${paths.length} files\n`)
  const run = [builtProgram, "index", "--rebuild"]
  const beganMs = performance.now()
  const peak = await peakMb(run, product.workspace)
  const firstMs = performance.now() - beganMs
  const edited = await editedMs(product, paths)
  return [
    atLeast("first index", (paths.length / firstMs) * 1000, 400, "files/s"),
    atMost("first index: peak memory", peak, 400, "MB"),
    atMost("index after one edit", edited, 50),
    ...(
      await askCode(product.wiring, { timeMs: null }, index => ({
        figures: questions(index, product.workspace.root, paths),
      }))
    ).figures,
  ]
}

/** Copies the TypeScript files of a tree, in the order of their paths. */
function copiedFrom(tree: string, root: string): readonly string[] {
  const files = readdirSync(tree, { recursive: true, withFileTypes: true })
    .filter(entry => entry.isFile() && /\.tsx?$/.test(entry.name))
    .map(entry => relative(tree, join(entry.parentPath, entry.name)))
    .toSorted()
    .slice(0, filesMax)
  // In a directory of another name: git ignores node_modules nowhere else.
  const copies = files.map(path => join("tree", path.replaceAll("node_modules", "modules")))
  for (const [at, path] of files.entries()) cpSync(join(tree, path), join(root, copies[at] ?? path))
  return copies
}

/** Updates the index after an edit of a single file, over and over. */
async function editedMs({ wiring, workspace }: Product, paths: readonly string[]): Promise<number> {
  const samples: number[] = []
  for (let round = 0; round < 12; round++) {
    const path = join(workspace.root, paths[(round * 37) % paths.length] ?? "")
    writeFileSync(path, `${readFileSync(path, "utf8")}\nexport const edit${round} = ${round}\n`)
    const began = performance.now()
    const opened = await openUpdatedIndex(wiring, { isRebuilt: false, timeMs: null })
    samples.push(performance.now() - began)
    opened[Symbol.dispose]()
  }
  return timingOf(samples.slice(2)).p50
}

function questions(index: CodeIndex, root: string, paths: readonly string[]): readonly Figure[] {
  const sampled = Array.from({ length: 50 }, (_, at) => paths[Math.floor((at * paths.length) / 50)] ?? "")
  const names = sampled.flatMap(path => index.symbolsIn(path)[0]?.name ?? [])
  const timed = <Item>(items: readonly Item[], work: (item: Item) => unknown) =>
    timingOf(
      items.map(item => {
        const began = performance.now()
        work(item)
        return performance.now() - began
      }),
    ).p95
  const outline = () => outlineOfCode(index.ranked(""), 2_000)
  outline()
  return [
    atMost(
      "symbols of a file, 95 of 100 below",
      timed(sampled, path => index.symbolsIn(path)),
      2,
    ),
    atMost(
      "references of a name, 95 of 100 below",
      timed(names, name => index.references(name)),
      10,
    ),
    atMost("outline of 2,000 tokens, warm", timed([1, 2, 3], outline), 100),
    ...agreement(index, root, paths),
    atLeast("references of 50 names that the index has", sharedReferences(index, root, paths), 95, "%"),
  ]
}

/** Compares the functions and classes of ctags with those of the index, by file, name and kind. */
function agreement(index: CodeIndex, root: string, paths: readonly string[]): readonly Figure[] {
  const missing = missingProgram("ctags")
  if (missing !== null) {
    process.stderr.write(`not measured: ${missing}\n`)
    return []
  }
  const known = new Set(
    paths.flatMap(path => index.symbolsIn(path).map(({ kind, name }) => `${path} ${kind} ${name}`)),
  )
  const listed = [...new Set(ctagsOf(root, paths))]
  const lacking = listed.filter(each => !known.has(each))
  process.stderr.write(`ctags: ${listed.length}, not in the index: ${lacking.slice(0, 10).join("; ")}\n`)
  const share = ((listed.length - lacking.length) / listed.length) * 100
  return [atLeast("functions and classes of ctags that the index has", share, 95, "%")]
}

/** Returns path, kind and name of each function and class. */
function ctagsOf(root: string, paths: readonly string[]): readonly string[] {
  const format = ["-x", "--_xformat=%F %K %N", "--languages=TypeScript", "--kinds-TypeScript=fc", "-L", "-"]
  const { stdout } = Bun.spawnSync(["ctags", ...format], { cwd: root, stdin: Buffer.from(paths.join("\n")) })
  return stdout
    .toString()
    .split("\n")
    .filter(line => line !== "")
}
