import type { EnvironmentRules } from "./contract.ts"
import { isDescribing, isKept, isPath } from "./judgement.ts"

/** Names whose values are likely secrets; `*` stands for any text. Compared without regard to case. */
const secretPatterns: readonly string[] = [
  "*_TOKEN",
  "*TOKEN",
  "*_TOKEN_*",
  "*_KEY",
  "*_KEYS",
  "*PAPERKEY",
  "*APIKEY",
  "*AUTHKEY",
  "*SIGNINGKEY",
  "*PRIVATEKEY",
  "*ACCESSKEY",
  "*API_KEY*",
  "*ACCESS_KEY*",
  "*PRIVATE_KEY*",
  "*SECRET*",
  "*PASSWORD*",
  "*PASSWD*",
  "*PASSPHRASE*",
  "*_PASS",
  "*_PWD",
  "*_PW",
  "PW",
  // The last words of the names above, alone.
  "AUTH",
  "COOKIE",
  "CREDS",
  "DSN",
  "JWT",
  "PASS",
  "PAT",
  "*_PIN",
  "*PSWD",
  "*_PAT",
  "*USERPASS",
  "*_AUTH",
  "*_AUTH_CONFIG",
  "*_AUTH_IDENT",
  "*_AUTHORIZATION",
  "*CREDENTIAL*",
  "*_CREDS",
  "*_DSN",
  "*DATABASE_URL",
  "*DATABASE_URI",
  "*_CONNECTION_STRING",
  "*CONNECTIONSTRING*",
  "*WEBHOOK",
  "*WEBHOOK_URL",
  "*_COOKIE",
  "*_SALT",
  "*_JWT",
  "*_JWT_*",
  // Sessions of password managers and stores, whose names contain none of the words above.
  "OP_SESSION_*",
  "BW_SESSION",
  "VAULT_WRAP_INFO",
  "FASTLANE_SESSION",
  // Credentials of feeds, by host: `BUNDLE_GEM__FURY__IO`.
  "VSS_NUGET_EXTERNAL_FEED_ENDPOINTS",
  "BUNDLE_*__*",
  "IDENTITY_HEADER",
  "*CSC_LINK",
]

/** Names that match a pattern of secrets and hold none. */
const plainPatterns: readonly string[] = ["GPG_KEY", "BUNDLE_BUILD__*", "BUNDLE_LOCAL__*", "BUNDLE_MIRROR__*"]

/**
 * Variables that hold no secret and give access to one: sockets of agents and daemons, files with credentials in an
 * unusual place, terminals that execute what is sent to them.
 */
const doorPatterns: readonly string[] = namesIn(`
  *_SOCK *_SOCKET SSH_AGENT_PID GPG_AGENT_INFO GNUPGHOME DBUS_*_ADDRESS GNOME_KEYRING_* XAUTHORITY KRB5CCNAME
  KRB5*_KTNAME NETRC *_NETRC CURL_HOME WGETRC GOAUTH DOCKER_CONFIG DOCKER_CERT_PATH DOCKER_HOST CONTAINER_HOST
  CONTAINERD_ADDRESS REGISTRY_AUTH_FILE HELM_REGISTRY_CONFIG KUBECONFIG NPM_CONFIG_USERCONFIG
  NPM_CONFIG_GLOBALCONFIG PIP_CONFIG_FILE UV_CONFIG_FILE AWS_CONFIG_FILE CLOUDSDK_CONFIG AZURE_CONFIG_DIR
  OCI_CLI_CONFIG_FILE TF_CLI_CONFIG_FILE GH_CONFIG_DIR GLAB_CONFIG_DIR ACTIONS_*_URL PGPASSFILE PGSERVICEFILE
  PGSSLKEY *_KEY_FILE *_KEY_PATH *_CERTIFICATE_PATH VSCODE_*IPC* TMUX STY KITTY_LISTEN_ON NVIM
  NVIM_LISTEN_ADDRESS SWAYSOCK I3SOCK
`)

/** Proxies stay although their addresses may hold a password: without them no package can be installed. */
const proxyPatterns: readonly string[] = ["*_PROXY", "*_PROXY_URL"]

/**
 * Variables that make another program load or run something, with their effect. They are left out because their
 * author decides what every program of the command really does; the user passes one on by
 * `execution.environment.include`.
 */
const loaderPatterns: readonly { readonly patterns: readonly string[]; readonly reason: string }[] = [
  {
    patterns: ["LD_*", "DYLD_*", "GLIBC_TUNABLES", "GCONV_PATH", "LOCPATH", "NLSPATH"],
    reason: "the dynamic linker and the C library load code by them",
  },
  {
    patterns: ["BASH_ENV", "ENV", "BASH_FUNC_*", "SHELLOPTS", "BASHOPTS", "PROMPT_COMMAND", "PS4", "ZDOTDIR"],
    reason: "shells run what they name before the command, or change how it is read",
  },
  { patterns: ["IFS", "CDPATH", "GLOBIGNORE"], reason: "shells split and resolve words by them" },
  {
    patterns: [
      "NODE_OPTIONS",
      "NODE_PATH",
      "NODE_REPL_EXTERNAL_MODULE",
      "ELECTRON_RUN_AS_NODE",
      "BUN_OPTIONS",
      // The directory of code that bun has compiled; acode sets it for itself.
      "BUN_RUNTIME_TRANSPILER_CACHE_PATH",
    ],
    reason: "JavaScript runtimes preload code by them",
  },
  { patterns: ["BUN_INSPECT*", "NODE_INSPECT*"], reason: "they open a debugger into the program" },
  {
    // Registry, cache and proxy settings stay: installations need them, and they run nothing.
    patterns: [
      "npm_config_script_shell",
      "npm_config_node_options",
      "npm_config_git",
      "npm_config_init_module",
    ],
    reason: "npm runs what they name",
  },
  {
    // PYTHONUNBUFFERED, PYTHONUTF8 and the like stay: they load nothing.
    patterns: [
      "PYTHONSTARTUP",
      "PYTHONPATH",
      "PYTHONHOME",
      "PYTHONINSPECT",
      "PYTHONBREAKPOINT",
      "PYTHONWARNINGS",
      "PYTHONUSERBASE",
      "PYTHONPYCACHEPREFIX",
    ],
    reason: "Python imports code by them",
  },
  { patterns: ["PERL5OPT", "PERL5LIB", "PERLLIB", "PERL5DB"], reason: "Perl loads code by them" },
  { patterns: ["RUBYOPT", "RUBYLIB"], reason: "Ruby loads code by them" },
  {
    patterns: ["JAVA_TOOL_OPTIONS", "_JAVA_OPTIONS", "JDK_JAVA_OPTIONS", "CLASSPATH"],
    reason: "every Java program takes agents and classes from them",
  },
  {
    patterns: [
      "DOTNET_STARTUP_HOOKS",
      "DOTNET_ADDITIONAL_DEPS",
      "CORECLR_*",
      "COR_PROFILER*",
      "COR_ENABLE_PROFILING",
    ],
    reason: ".NET loads code by them",
  },
  {
    patterns: ["LUA_INIT*", "PHPRC", "PHP_INI_SCAN_DIR", "R_PROFILE*", "ERL_AFLAGS", "ERL_ZFLAGS"],
    reason: "interpreters run what they name",
  },
  {
    patterns: ["RUSTC", "RUSTC_WRAPPER", "RUSTC_WORKSPACE_WRAPPER"],
    reason: "cargo runs them instead of the compiler",
  },
  {
    patterns: ["MAKEFLAGS", "MFLAGS", "GNUMAKEFLAGS", "MAKEFILES"],
    reason: "make reads options and files from them, and descriptors that are not there",
  },
  {
    patterns: [
      "OPENSSL_CONF",
      "OPENSSL_ENGINES",
      "OPENSSL_MODULES",
      "GTK_MODULES",
      "GIO_EXTRA_MODULES",
      "QT_PLUGIN_PATH",
    ],
    reason: "libraries load modules by them",
  },
  {
    patterns: [
      ...["LESSOPEN", "LESSCLOSE", "VIMINIT", "EXINIT", "SSH_ASKPASS", "SUDO_ASKPASS"],
      "RIPGREP_CONFIG_PATH",
    ],
    reason: "programs run what they name",
  },
  {
    // Redirect git to another repository, configuration, or program to run.
    patterns: ["GIT_*"],
    reason: "git is redirected or runs what they name",
  },
]

/** Variables of git that only name the committer, or make git ask and lock less. */
const harmlessPatterns: readonly string[] = [
  "GIT_AUTHOR_*",
  "GIT_COMMITTER_*",
  "GIT_TERMINAL_PROMPT",
  "GIT_CEILING_DIRECTORIES",
  "GIT_DISCOVERY_ACROSS_FILESYSTEM",
  "GIT_OPTIONAL_LOCKS",
]

/** Variables of every mode: without them programs do not find each other, their files or their language. */
const alwaysIncluded: readonly string[] = [
  "PATH",
  "HOME",
  "TEMP",
  "TMP",
  "TMPDIR",
  "LANG",
  "LANGUAGE",
  "LC_ALL",
  "LC_COLLATE",
  "LC_CTYPE",
  "LC_MESSAGES",
  "LC_MONETARY",
  "LC_NUMERIC",
  "LC_TIME",
  "TERM",
  "TZ",
  "USER",
  "LOGNAME",
  "SHELL",
]

/**
 * More variables of commands of a model or a plan: directories of toolchains and caches, certificates, output
 * settings. Nothing checks what such a command does with its environment, so any other variable needs
 * `execution.environment.include`.
 */
const agentPatterns: readonly string[] = namesIn(`
  LC_* XDG_CACHE_HOME XDG_CONFIG_HOME XDG_DATA_HOME XDG_STATE_HOME XDG_DATA_DIRS XDG_CONFIG_DIRS CI COLORTERM
  COLUMNS LINES NO_COLOR FORCE_COLOR CLICOLOR CLICOLOR_FORCE HTTP_PROXY HTTPS_PROXY ALL_PROXY NO_PROXY
  SSL_CERT_FILE SSL_CERT_DIR NIX_SSL_CERT_FILE NODE_EXTRA_CA_CERTS REQUESTS_CA_BUNDLE CURL_CA_BUNDLE PIP_CERT
  SOURCE_DATE_EPOCH DEBIAN_FRONTEND NODE_ENV NVM_DIR NVM_BIN FNM_DIR FNM_MULTISHELL_PATH VOLTA_HOME
  NODENV_ROOT BUN_INSTALL DENO_INSTALL DENO_DIR PNPM_HOME YARN_CACHE_FOLDER NPM_CONFIG_CACHE NPM_CONFIG_PREFIX
  N_PREFIX COREPACK_HOME CARGO_HOME CARGO_TARGET_DIR CARGO_TERM_COLOR RUSTUP_HOME RUSTUP_TOOLCHAIN
  RUST_BACKTRACE GOPATH GOROOT GOBIN GOCACHE GOMODCACHE GOTMPDIR GOENV_ROOT CGO_ENABLED GOOS GOARCH JAVA_HOME
  JDK_HOME JENV_ROOT MAVEN_HOME M2_HOME GRADLE_HOME GRADLE_USER_HOME ANDROID_HOME ANDROID_SDK_ROOT
  ANDROID_NDK_HOME KOTLIN_HOME SCALA_HOME SDKMAN_DIR PYENV_ROOT PYENV_VERSION VIRTUAL_ENV CONDA_PREFIX
  CONDA_DEFAULT_ENV CONDA_EXE POETRY_HOME POETRY_CACHE_DIR PIPX_HOME PIP_CACHE_DIR UV_CACHE_DIR
  UV_PYTHON_INSTALL_DIR PYTHONUNBUFFERED PYTHONDONTWRITEBYTECODE PYTHONUTF8 PYTHONIOENCODING PYTHONHASHSEED
  RBENV_ROOT RBENV_VERSION GEM_HOME GEM_PATH BUNDLE_PATH BUNDLE_WITHOUT DOTNET_ROOT DOTNET_CLI_HOME
  DOTNET_CLI_TELEMETRY_OPTOUT DOTNET_NOLOGO NUGET_PACKAGES COMPOSER_HOME COMPOSER_CACHE_DIR MIX_HOME HEX_HOME
  OPAMROOT OPAM_SWITCH_PREFIX STACK_ROOT CABAL_DIR GHCUP_INSTALL_BASE_PREFIX JULIA_DEPOT_PATH PUB_CACHE
  FLUTTER_ROOT ASDF_DIR ASDF_DATA_DIR MISE_DATA_DIR MISE_CACHE_DIR PROTO_HOME HOMEBREW_PREFIX
`)

const isSecret = nameTest(secretPatterns)
const isPlain = nameTest(plainPatterns)
const isDoor = nameTest(doorPatterns)
const isProxy = nameTest(proxyPatterns)
const isLoader = nameTest(loaderPatterns.flatMap(entry => entry.patterns))
const isHarmless = nameTest(harmlessPatterns)
const isAgents = nameTest(agentPatterns)

function isSecretName(name: string): boolean {
  return isSecret(name) && !isPlain(name) && !isDoor(name)
}

function leadsToSecret(name: string, value: string): boolean {
  return isDoor(name) || (passwordInAddress.test(value) && !isProxy(name))
}

function isForAgents(name: string, value: string): boolean {
  return isAgents(name) && !passwordInAddress.test(value)
}

/**
 * Matches a password anywhere in a value: `postgres://me:word@host`, and `https://token@host`, where a user alone is
 * a token.
 */
const passwordInAddress = /[a-z][a-z0-9+.-]*:\/\/[^/?#\s@]*:[^/?#\s@]+@|https?:\/\/[^/?#\s@]+@/i

function isLoaderName(name: string): boolean {
  return isLoader(name) && !isHarmless(name)
}

/** Ignores case, as `execution.environment.exclude` does. */
function matchesPattern(name: string, pattern: string): boolean {
  return nameTest([pattern])(name)
}

function namesIn(list: string): readonly string[] {
  return list.trim().split(/\s+/)
}

function nameTest(patterns: readonly string[]): (name: string) => boolean {
  const whole = new RegExp(patterns.map(patternSource).join("|"), "is")
  return name => whole.test(name)
}

/**
 * Returns the source of a pattern. A star at an edge becomes a missing anchor: `.*` there would read every name
 * repeatedly.
 */
function patternSource(pattern: string): string {
  const body = pattern
    .replace(/^\*+|\*+$/g, "")
    .split("*")
    .map(literal => literal.replace(/[\\^$.|?+()[\]{}]/g, String.raw`\$&`))
    .join(".*")
  return `${pattern.startsWith("*") ? "" : "^"}${body}${pattern.endsWith("*") ? "" : "$"}`
}

const valueLengthMin = 8

/**
 * Returns the values to search for everywhere: those of secret-looking variables, and passwords in addresses of all
 * variables. Values that occur in ordinary text are left out.
 */
export function secretValuesOf(environment: Readonly<Record<string, string | undefined>>): readonly string[] {
  const values = new Set<string>()
  for (const [name, value = ""] of Object.entries(environment)) {
    const userinfo = /^[a-z][a-z0-9+.-]*:\/\/([^/?#\s]*)@/i.exec(value)?.[1]
    if (userinfo !== undefined) for (const part of passwordForms(userinfo)) values.add(part)
    const isAddress =
      userinfo === undefined && /^[a-z][a-z0-9+.-]*:\/\//i.test(value) && !/webhook/i.test(name)
    if (isSecretName(name) && !isAddress) values.add(value)
  }
  return [...values].filter(isWorthHiding)
}

function passwordForms(userinfo: string): readonly string[] {
  const password = userinfo.slice(userinfo.indexOf(":") + 1)
  try {
    return [password, decodeURIComponent(password)]
  } catch {
    // A stray % means that the password was never encoded.
    return [password]
  }
}

function isWorthHiding(value: string): boolean {
  if (value.length < valueLengthMin || /^\d{1,9}$/.test(value)) return false
  // Elsewhere an address is a reference to a secret; here it was chosen because it is one.
  const isAddress = /^https?:/i.test(value)
  return (isAddress || !isKept(value)) && !isDescribing(value) && !isPath(value) && !isCommon(value)
}

function isCommon(value: string): boolean {
  return commonWords.has(value.toLowerCase())
}

const commonWords: ReadonlySet<string> = new Set(
  "anonymous username postgres password localhost database production development staging testing".split(" "),
)

/** The rules that decide which variables of the host a command gets. */
export const environmentRules: EnvironmentRules = {
  isSecretName,
  leadsToSecret,
  isForAgents,
  isLoaderName,
  matchesPattern,
  alwaysIncluded,
}
