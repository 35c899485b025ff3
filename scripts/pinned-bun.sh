# shellcheck shell=sh disable=SC2034,SC2154
# Read by bin/acode and scripts/with-bun: with `root` given, sets `bun` to the Bun that was installed with this package
# (empty when there is none) and keeps its transpiler cache out of HOME.

# Sets `version` to the version that line `"name": "version"` of a package.json names, without starting a process.
read_version() {
  version=
  while IFS= read -r line; do
    case $line in
      *"\"$1\": \""[0-9]*)
        version=${line#*: \"}
        version=${version%%\"*}
        return
        ;;
    esac
  done <"$2"
}

# In a checkout the packages are below it. Where acode itself is an installed package they may lie beside it or further
# up, as for every package; a Bun of another version up there belongs to another package.
modules=$root/node_modules
if [ ! -d "$modules/bun" ]; then
  read_version bun "$root/package.json"
  pinned=$version
  above=$root
  while [ -n "$above" ]; do
    above=${above%/*}
    case $above in
      */node_modules) candidate=$above ;;
      *) candidate=$above/node_modules ;;
    esac
    [ -r "$candidate/bun/package.json" ] || continue
    read_version version "$candidate/bun/package.json"
    [ "$version" = "$pinned" ] && modules=$candidate && break
  done
fi

# Where install scripts are switched off, bun.exe is a stub and the platform package still holds the program. Some package
# managers link to packages, and keep what a package needs beside the real one.
bun=$modules/bun/bin/bun.exe
beside=$modules
[ -L "$modules/bun" ] && beside=$(CDPATH='' cd -P -- "$modules/bun/.." && pwd -P)
for candidate in "$modules"/bun/node_modules/@oven/bun-*/bin/bun "$beside"/@oven/bun-*/bin/bun; do
  [ -x "$candidate" ] && "$candidate" --version >/dev/null 2>&1 && bun=$candidate && break
done
[ -x "$bun" ] || bun=

# Without this cache acode starts 40 ms later; where it cannot be kept beside the packages there is none.
cache=$modules/.cache/acode
if { [ -d "$cache" ] || mkdir -p "$cache" 2>/dev/null; } && [ -w "$cache" ]; then
  export BUN_RUNTIME_TRANSPILER_CACHE_PATH="$cache"
else
  export BUN_RUNTIME_TRANSPILER_CACHE_PATH=0
fi
