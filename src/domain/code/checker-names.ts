/** The compilers, type checkers and linters whose output acode reads, in the order in which they are tried. */
export const checkerNames = [
  "tsc",
  "biome",
  "pyright",
  "mypy",
  "ruff",
  "cargo",
  "go",
  "javac",
  "gcc",
  "g++",
  "dotnet",
  "mcs",
  "ruby",
  "php",
  "bash",
] as const
export type CheckerName = (typeof checkerNames)[number]
