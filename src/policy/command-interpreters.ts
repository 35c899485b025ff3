import { ask, type Layer, touch } from "./command-layer.ts"
import { type Arguments, hasOption, scanArguments, syntaxOf } from "./command-options.ts"
import { applyUsage, type Usage } from "./command-usage.ts"
import { isDynamic } from "./shell-script.ts"

const nodeSyntax = syntaxOf(
  "-e -p -r --eval --print --require --import --loader --test-reporter --conditions -C",
  {
    stops: true,
  },
)
const nodeHarmless =
  /^(--test|--check|-c|-v|--version|-h|--help|--test-(reporter|name-pattern|only|concurrency|timeout)|--experimental-test-coverage|--no-warnings|--enable-source-maps)$/

/** Tests and syntax checks pass; code on the command line and files to run are asked. */
export function judgeNode(layer: Layer): void {
  const args = scanArguments(layer.argv, 1, nodeSyntax)
  for (const option of args.options)
    if (!nodeHarmless.test(option.name))
      ask(layer, option.at, "inline-code", `the option ${option.name} gives it code or loads some`)
  judgeCodeFile(layer, args, hasOption(args, ["--test", "--check", "-c", "--version", "-v"]))
}

const pythonSyntax = syntaxOf("-c -m -W -X", { stops: true })
const pythonModules = new Set(
  "pytest unittest mypy pyflakes flake8 pylint black ruff isort compileall py_compile doctest tox nox pycodestyle bandit pyright json.tool tokenize ast dis platform site sysconfig".split(
    " ",
  ),
)
const pipUsage: Usage = { commands: { list: {}, show: {}, freeze: {}, check: {} } }

/** `-m` with a known test or lint module passes; `-c`, other modules and files to run are asked. */
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
