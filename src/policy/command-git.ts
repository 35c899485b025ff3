import { type Layer, touch } from "./command-layer.ts"
import { scanArguments, syntaxOf } from "./command-options.ts"

const globalSyntax = syntaxOf("-C -c --git-dir --work-tree --namespace --exec-path --config-env", {
  stops: true,
})

/** The paths git is told to read: `REV:path`, what follows `--`, and where `-C` goes. */
export function noteGitPaths(layer: Layer): void {
  const { options, operands } = scanArguments(layer.argv, 1, globalSyntax)
  for (const { name, value, at } of options)
    if (name === "-C" && value !== null) touch(layer, "list", value, at)
  const end = layer.argv.indexOf("--")
  for (const { word, at } of operands.slice(1)) {
    const inRevision = /^[^-:][^:]*:(?!\/)(.+)$/s.exec(word)?.[1]
    if (end >= 0 && at > end) touch(layer, "read", word.replace(/^:(\([^)]*\))?/, ""), at)
    else if (inRevision !== undefined) touch(layer, "read", inRevision, at)
  }
}
