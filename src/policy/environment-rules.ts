import { isDescribing, isKept, isPath } from "./judgement.ts"

/** Names whose values are likely secrets; `*` stands for anything. Compared without regard to case. */
const secretPatterns: readonly string[] = [
  "*_TOKEN",
  "*TOKEN",
  "*_TOKEN_*",
  "*_KEY",
  "*APIKEY",
  "*API_KEY*",
  "*ACCESS_KEY*",
  "*PRIVATE_KEY*",
  "*SECRET*",
  "*PASSWORD*",
  "*PASSWD*",
  "*PASSPHRASE*",
  "*_PASS",
  "*_PWD",
  "*_PAT",
  "*_AUTH",
  "*_AUTHORIZATION",
  "*CREDENTIAL*",
  "*_CREDS",
  "*_DSN",
  "*DATABASE_URL",
  "*DATABASE_URI",
  "*_CONNECTION_STRING",
  "*CONNECTIONSTRING*",
  "*WEBHOOK_URL",
  "*_COOKIE",
  "*_SALT",
  "*_JWT",
]

/** Look like secrets by their names and are none. */
const plainNames: ReadonlySet<string> = new Set(["SSH_AUTH_SOCK", "GPG_KEY", "XDG_SEAT_PATH"])

/**
 * Variables that make another program load or run something, with what they do. They are left out because whoever
 * sets one decides what every program of the command really does; a person passes one on by
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
      // Where bun looks for code it has compiled before; acode sets it for itself.
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
    patterns: ["LESSOPEN", "LESSCLOSE", "VIMINIT", "EXINIT", "SSH_ASKPASS", "SUDO_ASKPASS"],
    reason: "programs run what they name",
  },
  {
    // Redirect git to another repository, configuration, or program to run.
    patterns: ["GIT_*"],
    reason: "git is redirected or runs what they name",
  },
]

/** Of those, the ones that only say who commits, or make git ask and lock less. */
const harmlessPatterns: readonly string[] = [
  "GIT_AUTHOR_*",
  "GIT_COMMITTER_*",
  "GIT_TERMINAL_PROMPT",
  "GIT_CEILING_DIRECTORIES",
  "GIT_DISCOVERY_ACROSS_FILESYSTEM",
  "GIT_OPTIONAL_LOCKS",
]

/** Passed on in every mode: without them programs do not find each other, their files or their language. */
export const alwaysIncluded: readonly string[] = [
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

const isSecret = nameTest(secretPatterns)
const isLoader = nameTest(loaderPatterns.flatMap(entry => entry.patterns))
const isHarmless = nameTest(harmlessPatterns)

export function isSecretName(name: string): boolean {
  return isSecret(name) && !plainNames.has(name)
}

export function isLoaderName(name: string): boolean {
  return isLoader(name) && !isHarmless(name)
}

/** Without regard to case, as `execution.environment.exclude` is read. */
export function matchesPattern(name: string, pattern: string): boolean {
  return nameTest([pattern])(name)
}

function nameTest(patterns: readonly string[]): (name: string) => boolean {
  const whole = new RegExp(patterns.map(patternSource).join("|"), "is")
  return name => whole.test(name)
}

/** A star at an edge becomes a missing anchor: `.*` there would have every name walked through again and again. */
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
 * Values to look for wherever they occur: those of secret-looking variables, and passwords in addresses whatever the
 * variable is called. Left out is what would be found in ordinary text.
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
    // A stray % means that it was never encoded.
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
