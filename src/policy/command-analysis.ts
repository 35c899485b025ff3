import { judgeCmake, judgeMake, judgeTar } from "./command-build-tools.ts"
import { checkAssignment } from "./command-environment.ts"
import { unwrapFind } from "./command-find.ts"
import { noteGitPaths } from "./command-git.ts"
import { judgeNode, judgePython } from "./command-interpreters.ts"
import { ask, askNetwork, type Layer, never, newLayer } from "./command-layer.ts"
import type { Scene } from "./command-paths.ts"
import { foldedName, nameProblem, programName } from "./command-program.ts"
import { checkPipedCode, type Input, isShell, noInput, unwrapShell } from "./command-shells.ts"
import { judgeAwk, judgeSed } from "./command-text-tools.ts"
import { applyUsage } from "./command-usage.ts"
import { type Inner, isWrapper, unwrap } from "./command-wrappers.ts"
import { isJudgedNever, judgeNever } from "./never-allowed.ts"
import { knownProgram } from "./rules-shipped.ts"

const depthMax = 8
const argumentsMax = 4096

/** What looking at one program may need: where it runs, and somebody who reads shell strings. */
export interface Analyst {
  scene: Scene
  readonly layers: Layer[]
  /** Functions that are defined by now: calling one starts only what its body does, which is looked at as well. */
  functions: ReadonlySet<string>
  readScript(text: string, outer: Layer["outer"], shell: string): void
}

/** Looks at a program and at all it would start, adding a layer for each. */
export function analyseProgram(
  analyst: Analyst,
  argv: readonly string[],
  outer: Layer["outer"],
  input: Input = noInput,
): Layer {
  const layer = newLayer(argv, outer)
  analyst.layers.push(layer)
  const problem = nameProblem(argv[0] ?? "")
  if (problem !== null) never(layer, "malformed", problem)
  else if (depthOf(layer) > depthMax) never(layer, "malformed", "programs start programs too many times over")
  else if (argv.length > argumentsMax) never(layer, "malformed", `it has more than ${argumentsMax} arguments`)
  else if (analyst.functions.has(argv[0] ?? "")) layer.rule = "commands.function"
  else judgeProgram(analyst, layer, input)
  return layer
}

function depthOf(layer: Layer): number {
  let depth = 0
  for (let above = layer.outer; above !== null; above = above.layer.outer) depth += 1
  return depth
}

function judgeProgram(analyst: Analyst, layer: Layer, input: Input): void {
  const { name, isTrusted } = programName(layer.argv[0] ?? "")
  judgeNever(layer, foldedName(name), analyst.scene)
  checkPipedCode(layer, name, input)
  if (!isTrusted) {
    layer.rule = "commands.run-file"
    ask(layer, 0, "run-file", `${layer.argv[0]} is a file and not a program of the system`)
    lookBehind(analyst, layer)
  } else if (isVersionQuery(layer, name)) layer.rule = "commands.version"
  else start(analyst, layer, name, input)
}

const shortVersion = new Set("node nodejs npm yarn pnpm bun java ruby perl php tsc rg".split(" "))

function isVersionQuery(layer: Layer, name: string): boolean {
  if (layer.argv.length !== 2 || (knownProgram(name) === null && !grammars.has(name) && !isShell(name)))
    return false
  const query = layer.argv[1] ?? ""
  if (/^(--version|--help|-V|-version)$/.test(query)) return true
  return (
    (query === "-v" && shortVersion.has(name)) || (query === "version" && /^(go|cargo|helm|zig)$/.test(name))
  )
}

function start(analyst: Analyst, layer: Layer, name: string, input: Input): void {
  const grammar = grammars.get(name)
  const known = knownProgram(name)
  if (isShell(name)) follow(analyst, layer, unwrapShell(layer, name, input), input, name)
  else if (isWrapper(name)) startWrapped(analyst, layer, name, input)
  else if (name === "find" || name === "gfind") follow(analyst, layer, unwrapFind(layer), noInput, name)
  else if (name === "npx" || name === "bunx") startPackageTool(analyst, layer)
  else if (grammar !== undefined) {
    layer.rule = grammar.rule
    grammar.judge(layer)
  } else if (known !== null) {
    layer.rule = known.rule
    applyUsage(layer, known.usage, 1)
    if (name === "git") noteGitPaths(layer)
  } else {
    ask(layer, 0, "unknown-program", `${name} is not a program acode has a rule for`)
    lookBehind(analyst, layer)
  }
}

function follow(analyst: Analyst, layer: Layer, inner: readonly Inner[], input: Input, shell: string): void {
  for (const next of inner) {
    if (next.kind === "argv") {
      const outer = { layer, offset: next.offset, by: "argv" as const }
      analyseProgram(analyst, next.argv, outer, input)
    } else analyst.readScript(next.text, { layer, offset: next.offset, by: "script" }, shell)
  }
}

function startWrapped(analyst: Analyst, layer: Layer, name: string, input: Input): void {
  const { inner, assignments, isUnclear } = unwrap(layer, name)
  for (const { word, at } of assignments) {
    const equals = word.indexOf("=")
    checkAssignment(layer, { name: word.slice(0, equals), value: word.slice(equals + 1) }, at)
  }
  if (isUnclear) lookBehind(analyst, layer)
  follow(analyst, layer, inner, input, "sh")
}

/** A tool that is installed in the workspace is judged as itself; what may be fetched first is asked. */
function startPackageTool(analyst: Analyst, layer: Layer): void {
  layer.rule = "commands.packages"
  const from = /^--(no|no-install|offline)$/.test(layer.argv[1] ?? "") ? 2 : 1
  const tool = layer.argv[from] ?? ""
  const known = knownProgram(tool)
  if (known !== null && /^commands\.(build|test|lint)$/.test(known.rule))
    analyseProgram(analyst, layer.argv.slice(from), { layer, offset: from, by: "argv" })
  else {
    askNetwork(layer, Math.min(from, layer.argv.length - 1), "it may fetch a program and run it")
    lookBehind(analyst, layer)
  }
}

/** Behind a program nobody knows, the words may be another command: what is never allowed is not hidden so. */
function lookBehind(analyst: Analyst, layer: Layer): void {
  for (let at = 1; at < Math.min(layer.argv.length, 64); at++) {
    const name = foldedName(programName(layer.argv[at] ?? "").name)
    if (!isJudgedNever(name)) continue
    const hidden = newLayer(layer.argv.slice(at), null)
    judgeNever(hidden, name, analyst.scene)
    for (const finding of hidden.findings)
      if (finding.severity === "never") layer.findings.push({ ...finding, at: finding.at + at })
  }
}

/** Whether a name means something already, so that a script must not give it another meaning. */
export function isKnownName(name: string): boolean {
  return (
    knownProgram(name) !== null ||
    grammars.has(name) ||
    isWrapper(name) ||
    isShell(name) ||
    isJudgedNever(name) ||
    /^(g?find|npx|bunx)$/.test(name)
  )
}

interface Grammar {
  readonly rule: string
  readonly judge: (layer: Layer) => void
}

const grammars: ReadonlyMap<string, Grammar> = new Map([
  ["node", { rule: "commands.interpreter", judge: judgeNode }],
  ["nodejs", { rule: "commands.interpreter", judge: judgeNode }],
  ["python", { rule: "commands.interpreter", judge: judgePython }],
  ["pypy", { rule: "commands.interpreter", judge: judgePython }],
  ["make", { rule: "commands.build", judge: judgeMake }],
  ["gmake", { rule: "commands.build", judge: judgeMake }],
  ["cmake", { rule: "commands.build", judge: judgeCmake }],
  ["tar", { rule: "commands.archives", judge: judgeTar }],
  ["bsdtar", { rule: "commands.archives", judge: judgeTar }],
  ["gtar", { rule: "commands.archives", judge: judgeTar }],
  ["sed", { rule: "commands.search", judge: judgeSed }],
  ["gsed", { rule: "commands.search", judge: judgeSed }],
  ...["awk", "gawk", "mawk", "nawk"].map((name): [string, Grammar] => [
    name,
    { rule: "commands.search", judge: judgeAwk },
  ]),
])
