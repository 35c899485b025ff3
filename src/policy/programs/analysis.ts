import { isDynamic } from "../shell/script.ts"
import { checkAssignment } from "./environment.ts"
import { unwrapFind } from "./find.ts"
import { noteGitPaths } from "./git.ts"
import { ask, askNetwork, type Layer, never, newLayer, touch } from "./layer.ts"
import { isJudgedNever, judgeNever } from "./never-allowed.ts"
import { type Arguments, hasOption, scanArguments, syntaxOf } from "./options.ts"
import type { CommandContext } from "./paths.ts"
import { foldedName, nameProblem, programName } from "./program.ts"
import { checkPipedCode, type Input, isShell, noInput, unwrapShell } from "./shells.ts"
import { knownProgram } from "./shipped.ts"
import { judgeAwk, judgeSed } from "./text-tools.ts"
import { applyUsage, type Usage } from "./usage.ts"
import { type Inner, isWrapper, unwrap } from "./wrappers.ts"

const depthMax = 8
const argumentsMax = 4096

/** The context of the analysis of one program: where it runs, and the reader of shell strings. */
export interface Analyst {
  scene: CommandContext
  readonly layers: Layer[]
  /**
   * The functions that are defined at this point. A call of one starts only what its body starts, which is analysed
   * too.
   */
  functions: ReadonlySet<string>
  readScript(text: string, outer: Layer["outer"], shell: string): void
}

/** Analyses a program and every program that it would start, and adds a layer for each. */
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
  else if (depthOf(layer) > depthMax) never(layer, "malformed", "programs start programs at too many levels")
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

/** Judges a tool that is installed in the workspace as that tool; a tool that may be fetched first is asked. */
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

/**
 * Searches the arguments of an unknown program for a command, so that an unknown wrapper hides nothing that is never
 * allowed.
 */
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

/** Reports whether a name has a meaning already, so that a script must not define it anew. */
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

const makeSyntax = syntaxOf("-C -f -I -j -l -o -W -E --directory --file --makefile --eval --include-dir")
const makeHarmless =
  /^(-[Cjklnsqritpwd]|-[bmBe]|--(directory|keep-going|dry-run|just-print|silent|quiet|question|no-print-directory|print-directory|always-make|load-average|version|help|touch|trace|output-sync|print-data-base))$/
const outwardTarget =
  /^(install|uninstall|publish|deploy|release|push|upload|dist-?clean-all|bootstrap|setup|docker.*|.*-(install|deploy|publish|push))$/
const harmlessVariable =
  /^(V|VERBOSE|DEBUG|CI|NO_COLOR|Q|SILENT|COLOR|BUILD_TYPE|CONFIG|TESTS?|TEST_ARGS|PKG|FILTER)$/

/** Judges make. Targets run the workspace's own recipes; variables and options can replace the programs in them. */
export function judgeMake(layer: Layer): void {
  const args = scanArguments(layer.argv, 1, makeSyntax)
  for (const option of args.options) {
    if (!makeHarmless.test(option.name))
      ask(layer, option.at, "option", `the option ${option.name} can replace programs that make runs`)
    else if (/^(-C|--directory)$/.test(option.name) && option.value !== null)
      touch(layer, "list", option.value, option.at)
  }
  for (const { word, at } of args.operands) {
    const variable = /^([A-Za-z_.][\w.-]*)(?:::?|\+|\?|!)?=(.*)$/s.exec(word)
    if (isDynamic(word)) ask(layer, at, "dynamic-option", "a target known only when it runs")
    else if (variable !== null) judgeMakeVariable(layer, at, variable[1] ?? "", variable[2] ?? "")
    else if (outwardTarget.test(word))
      ask(layer, at, "make-target", `the target "${word}" acts outside a build`)
  }
}

function judgeMakeVariable(layer: Layer, at: number, name: string, value: string): void {
  if (harmlessVariable.test(name) && /^[\w./:@,-]*$/.test(value)) return
  ask(layer, at, "make-variable", `the variable ${name} can replace programs that make runs`)
}

const cmakeSyntax = syntaxOf(
  "-S -B -G -T -A -D -U -C -P -E --build --target -t -j --parallel --config --preset --install",
)
const cmakeHarmless =
  /^(-[SBGTAjtv]|--(build|target|parallel|config|preset|verbose|version|help|clean-first|fresh|list-presets|log-level))$/
const cmakeDefinition =
  /^(CMAKE_BUILD_TYPE|CMAKE_EXPORT_COMPILE_COMMANDS|BUILD_(TESTING|SHARED_LIBS)|[A-Z]\w*_BUILD_TESTS)(:\w+)?=[\w.-]+$/

/**
 * Judges cmake. Configuring and building pass; `-E`, `-P`, `--install` and definitions that name programs are asked.
 */
export function judgeCmake(layer: Layer): void {
  const args = scanArguments(layer.argv, 1, cmakeSyntax)
  for (const option of args.options) {
    if (option.name === "-D" && cmakeDefinition.test(option.value ?? "")) continue
    if (!cmakeHarmless.test(option.name))
      ask(layer, option.at, "option", `the option ${option.name} makes it run or install something`)
  }
  for (const at of args.vague)
    ask(layer, at, "dynamic-option", "an argument known only when it runs could be an option")
  const targets = args.options.filter(({ name }) => name === "--target" || name === "-t")
  for (const { value, at } of targets)
    if (value === null || isDynamic(value) || outwardTarget.test(value))
      ask(layer, at, "make-target", `the target "${value ?? ""}" acts outside a build`)
}

const tarSyntax = syntaxOf("-f -C -b -T -X -I -F -g -K -L -N -V --file --directory --exclude")
const tarHarmless =
  /^(-[tfvzjJCa]|--(list|file|verbose|gzip|bzip2|xz|zstd|auto-compress|exclude|directory|version|help))$/

/**
 * Judges tar. Listing an archive passes. Its other options can run programs in a dozen forms, so all of them are
 * asked.
 */
export function judgeTar(layer: Layer): void {
  const [, bundle, ...rest] = layer.argv
  const bundled = bundle !== undefined && /^[A-Za-z]+$/.test(bundle)
  const argv = bundled ? [layer.argv[0] ?? "", `-${bundle.replace("f", "")}`, "-f", ...rest] : layer.argv
  const args = scanArguments(argv, 1, tarSyntax)
  const lists = hasOption(args, ["-t", "--list"])
  for (const option of args.options) {
    const at = Math.min(option.at, layer.argv.length - 1)
    if (!tarHarmless.test(option.name)) ask(layer, at, "option", `the option ${option.name} of tar`)
    else if (/^(-f|--file)$/.test(option.name) && option.value !== null)
      touch(layer, "read", option.value, at)
    if (option.value !== null && /^(-f|--file)$/.test(option.name) && /^[\w.@-]+:/.test(option.value))
      ask(layer, at, "network", "it reads an archive from another machine")
  }
  if (!lists) ask(layer, 0, "archives", "it packs or unpacks files")
  for (const at of args.vague)
    ask(layer, Math.min(at, layer.argv.length - 1), "dynamic-option", "a name could be an option")
}

const nodeSyntax = syntaxOf(
  "-e -p -r --eval --print --require --import --loader --test-reporter --conditions -C",
  {
    stops: true,
  },
)
const nodeHarmless =
  /^(--test|--check|-c|-v|--version|-h|--help|--test-(reporter|name-pattern|only|concurrency|timeout)|--experimental-test-coverage|--no-warnings|--enable-source-maps)$/

/** Judges node. Tests and syntax checks pass; code on the command line and files to run are asked. */
export function judgeNode(layer: Layer): void {
  const args = scanArguments(layer.argv, 1, nodeSyntax)
  for (const option of args.options)
    if (!nodeHarmless.test(option.name))
      ask(layer, option.at, "inline-code", `the option ${option.name} passes code to it or loads code`)
  judgeCodeFile(layer, args, hasOption(args, ["--test", "--check", "-c", "--version", "-v"]))
}

const pythonSyntax = syntaxOf("-c -m -W -X", { stops: true })
const pythonModules = new Set(
  "pytest unittest mypy pyflakes flake8 pylint black ruff isort compileall py_compile doctest tox nox pycodestyle bandit pyright json.tool tokenize ast dis platform site sysconfig".split(
    " ",
  ),
)
const pipUsage: Usage = { commands: { list: {}, show: {}, freeze: {}, check: {} } }

/** Judges Python. `-m` with a known test or lint module passes; `-c`, other modules and files to run are asked. */
export function judgePython(layer: Layer): void {
  const args = scanArguments(layer.argv, 1, pythonSyntax)
  const module = args.options.find(option => option.name === "-m")
  for (const option of args.options) {
    if (option.name === "-c") ask(layer, option.at, "inline-code", "the option -c gives it code")
    else if (!/^-[mVBEIOPRSbdhqsuvxWX]$|^--(version|help)$/.test(option.name))
      ask(layer, option.at, "option", `the option ${option.name} is not known to be harmless`)
  }
  if (module === undefined) {
    const [file, verb] = args.operands
    if (file?.word === "manage.py" && (verb?.word === "test" || verb?.word === "check")) return
    judgeCodeFile(layer, args, hasOption(args, ["-c", "-V", "--version", "-h", "--help"]))
  } else if (module.value === "pip" || module.value === "pip3") {
    applyUsage(layer, pipUsage, (args.operands[0]?.at ?? layer.argv.length) | 0)
  } else if (module.value === "coverage") {
    const verb = args.operands[0]
    if (verb === undefined || !/^(report|html|xml|json|combine|erase)$/.test(verb.word))
      ask(layer, verb?.at ?? module.at, "inline-code", "it runs a program of its own choice")
  } else if (module.value === null || !pythonModules.has(module.value))
    ask(
      layer,
      module.at,
      "inline-code",
      `the module "${module.value ?? ""}" is not a known test or lint tool`,
    )
}

function judgeCodeFile(layer: Layer, args: Arguments, isHarmless: boolean): void {
  const [file] = args.operands
  if (file === undefined) {
    if (!isHarmless) ask(layer, 0, "inline-code", "it runs code from its standard input")
    return
  }
  if (!isDynamic(file.word)) touch(layer, "read", file.word, file.at)
  if (!isHarmless) ask(layer, file.at, "run-file", `it runs ${file.word}`)
  for (const at of args.vague)
    ask(layer, at, "dynamic-option", "an argument known only when it runs could be an option")
}
