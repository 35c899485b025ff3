import { readFileSync } from "node:fs"
import { join, relative } from "node:path"
import ts from "typescript"
import type { CodeIndex } from "../../src/store/code-index/contract.ts"

const namesMax = 50

/**
 * Returns the share of the references that the language service of TypeScript finds for sampled functions and that the
 * index has, in percent. Excluded are files that the index lists as not parsed, places in comments, and places where
 * another name stands, such as the `default` of an import.
 */
export function sharedReferences(index: CodeIndex, root: string, paths: readonly string[]): number {
  const texts = new Map(paths.map(path => [path, readFileSync(join(root, path), "utf8")]))
  const service = serviceOf(root, paths, texts)
  const unparsed = new Set([...index.files().values()].flatMap(file => (file.unparsed ? [file.path] : [])))
  let asked = 0
  let all = 0
  let shared = 0
  for (let at = 0; asked < namesMax && at < paths.length; at += Math.max(1, Math.floor(paths.length / 350))) {
    const path = paths[at] ?? ""
    const match = /^export (?:async )?function (\w+)/m.exec(texts.get(path) ?? "")
    const name = match?.[1]
    if (match === null || name === undefined || unparsed.has(path)) continue
    asked++
    const ours = new Set(
      index.references(name).flatMap(file => file.places.map(({ byteStart }) => `${file.path}#${byteStart}`)),
    )
    const found = service.findReferences(join(root, path), match.index + match[0].length - name.length) ?? []
    for (const { fileName, textSpan } of found.flatMap(({ references }) => references)) {
      const file = relative(root, fileName)
      const text = texts.get(file) ?? ""
      const before = text.slice(0, textSpan.start)
      const isComment = /(?:^|\n)\s*(?:\*|\/[/*])[^\n]*$/.test(before)
      if (isComment || unparsed.has(file) || !text.startsWith(name, textSpan.start)) continue
      all++
      if (ours.has(`${file}#${Buffer.byteLength(before)}`)) shared++
    }
  }
  process.stderr.write(`language service: ${all} references of ${asked} names\n`)
  return (shared / all) * 100
}

function serviceOf(root: string, paths: readonly string[], texts: ReadonlyMap<string, string>) {
  const { sys } = ts
  const options: ts.CompilerOptions = {
    target: ts.ScriptTarget.ESNext,
    module: ts.ModuleKind.ESNext,
    moduleResolution: ts.ModuleResolutionKind.Bundler,
    allowImportingTsExtensions: true,
    noEmit: true,
    types: [],
  }
  return ts.createLanguageService({
    getScriptFileNames: () => paths.map(path => join(root, path)),
    getScriptVersion: () => "1",
    getScriptSnapshot: path => {
      const text = texts.get(relative(root, path)) ?? sys.readFile(path)
      return text === undefined ? undefined : ts.ScriptSnapshot.fromString(text)
    },
    getCurrentDirectory: () => root,
    getCompilationSettings: () => options,
    getDefaultLibFileName: given => ts.getDefaultLibFilePath(given),
    fileExists: sys.fileExists,
    readFile: sys.readFile,
    readDirectory: sys.readDirectory,
    directoryExists: sys.directoryExists,
  })
}
