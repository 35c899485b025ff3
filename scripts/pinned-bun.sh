# shellcheck shell=sh disable=SC2034,SC2154
# Read by bin/acode and scripts/with-bun: with `root` given, sets `bun` to the Bun that `npm ci` installed (empty when
# there is none) and keeps its transpiler cache out of HOME.

# Where install scripts are switched off, bun.exe is a stub and the platform package still holds the program.
bun=$root/node_modules/bun/bin/bun.exe
for candidate in "$root"/node_modules/@oven/bun-*/bin/bun; do
  [ -x "$candidate" ] && "$candidate" --version >/dev/null 2>&1 && bun=$candidate && break
done
[ -x "$bun" ] || bun=

# Without this cache acode starts 40 ms later; where it cannot be kept beside the packages there is none.
cache=$root/node_modules/.cache/acode
if { [ -d "$cache" ] || mkdir -p "$cache" 2>/dev/null; } && [ -w "$cache" ]; then
  export BUN_RUNTIME_TRANSPILER_CACHE_PATH="$cache"
else
  export BUN_RUNTIME_TRANSPILER_CACHE_PATH=0
fi
