import { ask, type Layer, touch } from "./command-layer.ts"
import { hasOption, scanArguments, syntaxOf } from "./command-options.ts"
import { isDynamic } from "./shell-script.ts"

const makeSyntax = syntaxOf("-C -f -I -j -l -o -W -E --directory --file --makefile --eval --include-dir")
const makeHarmless =
  /^(-[Cjklnsqritpwd]|-[bmBe]|--(directory|keep-going|dry-run|just-print|silent|quiet|question|no-print-directory|print-directory|always-make|load-average|version|help|touch|trace|output-sync|print-data-base))$/
const outwardTarget =
  /^(install|uninstall|publish|deploy|release|push|upload|dist-?clean-all|bootstrap|setup|docker.*|.*-(install|deploy|publish|push))$/
const harmlessVariable =
  /^(V|VERBOSE|DEBUG|CI|NO_COLOR|Q|SILENT|COLOR|BUILD_TYPE|CONFIG|TESTS?|TEST_ARGS|PKG|FILTER)$/

/** Targets run the workspace's own recipes; variables and options can replace the programs in them. */
export function judgeMake(layer: Layer): void {
  const args = scanArguments(layer.argv, 1, makeSyntax)
  for (const option of args.options) {
    if (!makeHarmless.test(option.name))
      ask(layer, option.at, "option", `the option ${option.name} can replace what make runs`)
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
  ask(layer, at, "make-variable", `the variable ${name} can replace what make runs`)
}

const cmakeSyntax = syntaxOf(
  "-S -B -G -T -A -D -U -C -P -E --build --target -t -j --parallel --config --preset --install",
)
const cmakeHarmless =
  /^(-[SBGTAjtv]|--(build|target|parallel|config|preset|verbose|version|help|clean-first|fresh|list-presets|log-level))$/
const cmakeDefinition =
  /^(CMAKE_BUILD_TYPE|CMAKE_EXPORT_COMPILE_COMMANDS|BUILD_(TESTING|SHARED_LIBS)|[A-Z]\w*_BUILD_TESTS)(:\w+)?=[\w.-]+$/

/** Configuring and building pass; `-E`, `-P`, `--install` and definitions that name programs are asked. */
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

/** Listing an archive passes. Its other options run programs in a dozen ways, so they are asked all alike. */
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
