/** A place below HOME where programs are installed for one person. */
export interface Toolchain {
  /** Relative to HOME. */
  readonly directory: string
  /** The variable that says where it is instead. */
  readonly variable?: string
  /** Other places it does not work without, relative to HOME or named by a variable. */
  readonly needs?: readonly string[]
}

export const toolchains: readonly Toolchain[] = [
  { directory: ".nvm", variable: "NVM_DIR" },
  { directory: ".fnm", variable: "FNM_DIR" },
  { directory: ".local/share/fnm", variable: "FNM_DIR" },
  { directory: ".volta", variable: "VOLTA_HOME" },
  { directory: ".nodenv", variable: "NODENV_ROOT" },
  { directory: ".bun", variable: "BUN_INSTALL" },
  { directory: ".deno", variable: "DENO_INSTALL" },
  { directory: ".npm-global" },
  { directory: ".npm-packages" },
  { directory: ".local/share/pnpm", variable: "PNPM_HOME" },
  { directory: ".yarn/bin" },
  { directory: ".config/yarn/global" },
  { directory: ".cargo", variable: "CARGO_HOME", needs: [".rustup"] },
  { directory: ".rustup", variable: "RUSTUP_HOME" },
  { directory: ".pyenv", variable: "PYENV_ROOT" },
  { directory: ".local/share/uv", variable: "UV_PYTHON_INSTALL_DIR" },
  { directory: ".local/share/pipx", variable: "PIPX_HOME" },
  { directory: ".local/pipx" },
  { directory: ".poetry" },
  { directory: "miniconda3", variable: "CONDA_PREFIX" },
  { directory: "anaconda3", variable: "CONDA_PREFIX" },
  { directory: "miniforge3", variable: "CONDA_PREFIX" },
  { directory: ".rbenv", variable: "RBENV_ROOT" },
  { directory: ".rvm" },
  { directory: ".gem" },
  { directory: ".local/share/gem" },
  { directory: "go", variable: "GOPATH" },
  { directory: "sdk", variable: "GOROOT" },
  { directory: ".goenv", variable: "GOENV_ROOT" },
  { directory: ".sdkman", variable: "SDKMAN_DIR" },
  { directory: ".jdks", variable: "JAVA_HOME" },
  { directory: ".jenv", variable: "JENV_ROOT" },
  { directory: ".dotnet", variable: "DOTNET_ROOT" },
  { directory: ".asdf", variable: "ASDF_DATA_DIR" },
  { directory: ".local/share/mise", variable: "MISE_DATA_DIR" },
  { directory: ".proto", variable: "PROTO_HOME" },
  { directory: ".ghcup" },
  { directory: ".cabal/bin" },
  { directory: ".stack/programs" },
  { directory: ".opam", variable: "OPAMROOT" },
  { directory: ".juliaup" },
  { directory: ".elan" },
  { directory: ".nimble" },
  { directory: ".swiftly" },
  { directory: ".foundry" },
  { directory: ".composer/vendor" },
  { directory: ".config/composer/vendor" },
  { directory: "perl5" },
  { directory: ".nix-profile" },
  {
    directory: ".local/bin",
    needs: [".local/lib", ".local/share/pipx", ".local/pipx", ".local/share/uv", ".local/share/pnpm"],
  },
]

/** What builds read besides programs: packages fetched before, which without a network cannot be fetched again. */
export const packageCaches = ["go/pkg/mod", ".m2/repository", ".nuget/packages"] as const
