import type { Assignment } from "../shell/script.ts"
import { ask, type Layer } from "./layer.ts"

const harmless = new Set(
  (
    "CI NODE_ENV NO_COLOR FORCE_COLOR CLICOLOR CLICOLOR_FORCE COLOR COLUMNS LINES TERM LANG LANGUAGE TZ DEBUG VERBOSE " +
    "LOG_LEVEL LOGLEVEL RUST_BACKTRACE RUST_LOG CGO_ENABLED GOOS GOARCH GO111MODULE PYTHONDONTWRITEBYTECODE " +
    "PYTHONUNBUFFERED PYTHONHASHSEED PORT HOST ENVIRONMENT APP_ENV RAILS_ENV RACK_ENV MIX_ENV FLASK_ENV DJANGO_DEBUG " +
    "TEST TESTS SEED TIMEOUT BABEL_ENV VITEST JEST_WORKER_ID CARGO_TERM_COLOR GIT_PAGER_IN_USE"
  ).split(" "),
)

/** Lower-case names that shells, package managers and proxies use themselves. */
const localName = /^(?!npm_|.*_proxy$|yarn_|pip_|path$|fpath$|cdpath$)[a-z][a-z0-9_]*$/

/**
 * Asks about an assignment that can change which program runs or what it loads: `PATH`, `LD_PRELOAD`, `GIT_PAGER`, …
 */
export function checkAssignment(layer: Layer, { name, value }: Assignment, at: number): void {
  if (harmless.has(name) || localName.test(name) || /^LC_[A-Z]+$/.test(name)) {
    // Arithmetic and tests evaluate a subscript in the value of a variable: `x='a[$(id)]'`.
    if (hasHiddenCommand(value)) ask(layer, at, "inline-code", `the value of ${name} hides a command`)
    return
  }
  ask(layer, at, "environment", `the variable ${name} can change the behaviour of programs`)
}

export function hasHiddenCommand(text: string): boolean {
  return /\[[^\]]*(\$\(|`)/.test(text)
}
