import { describe, expect, test } from "bun:test"
import { environmentRules, secretValuesOf } from "../../src/redaction/secret-names.ts"

const { alwaysIncluded, isLoaderName, isSecretName, matchesPattern } = environmentRules

describe("names of secrets", () => {
  test.each([
    "API_TOKEN",
    "GITHUB_TOKEN",
    "NPM_TOKEN",
    "token",
    "npm_config_//registry.example.org/:_authToken",
    "AWS_ACCESS_KEY_ID",
    "AWS_SECRET_ACCESS_KEY",
    "AWS_SESSION_TOKEN",
    "ANTHROPIC_API_KEY",
    "OPENAI_APIKEY",
    "STRIPE_KEY",
    "SSH_PRIVATE_KEY",
    "SSH_PRIVATE_KEY_BASE64",
    "CLIENT_SECRET",
    "SECRET_KEY_BASE",
    "API_SECRET",
    "DB_PASSWORD",
    "PGPASSWORD",
    "MYSQL_PWD",
    "DB_PASS",
    "DOCKER_PASSWD",
    "GPG_PASSPHRASE",
    "AZURE_DEVOPS_PAT",
    "NPM_AUTH",
    "GOOGLE_CREDENTIALS",
    "DB_CREDS",
    "SENTRY_DSN",
    "DATABASE_URL",
    "TEST_DATABASE_URL",
    "AZURE_STORAGE_CONNECTION_STRING",
    "SLACK_WEBHOOK_URL",
    "SESSION_COOKIE",
    "AUTH",
    "COOKIE",
    "CREDS",
    "DSN",
    "JWT",
    "PASS",
    "PAT",
  ])("%s", name => {
    expect(isSecretName(name)).toBe(true)
  })

  test.each([
    "PATH",
    "HOME",
    "PWD",
    "OLDPWD",
    "TOKENIZERS_PARALLELISM",
    "KEYBOARD",
    "MONKEY",
    "SSH_AUTH_SOCK",
    "XDG_SESSION_ID",
    "DESKTOP_SESSION",
    "HTTP_PROXY",
    "AUTHOR",
    "COMPASS",
    "NODE_ENV",
    "CI",
    "PATTERN",
  ])("not %s", name => {
    expect(isSecretName(name)).toBe(false)
  })
})

describe("names that make programs load something", () => {
  test.each([
    "LD_PRELOAD",
    "LD_LIBRARY_PATH",
    "DYLD_INSERT_LIBRARIES",
    "NODE_OPTIONS",
    "NODE_PATH",
    "BASH_ENV",
    "ENV",
    "BASH_FUNC_ls%%",
    "PROMPT_COMMAND",
    "SHELLOPTS",
    "PYTHONPATH",
    "PYTHONSTARTUP",
    "PERL5OPT",
    "RUBYOPT",
    "JAVA_TOOL_OPTIONS",
    "_JAVA_OPTIONS",
    "DOTNET_STARTUP_HOOKS",
    "GIT_DIR",
    "GIT_SSH_COMMAND",
    "GIT_CONFIG_COUNT",
    "GIT_EXEC_PATH",
    "GIT_EDITOR",
    "RUSTC_WRAPPER",
    "MAKEFLAGS",
    "npm_config_script_shell",
    "NPM_CONFIG_NODE_OPTIONS",
    "BUN_OPTIONS",
    "LESSOPEN",
    "OPENSSL_CONF",
  ])("%s", name => {
    expect(isLoaderName(name)).toBe(true)
  })

  test.each([
    "PATH",
    "NODE_ENV",
    "NODE_EXTRA_CA_CERTS",
    "PYTHONUNBUFFERED",
    "PYTHONDONTWRITEBYTECODE",
    "VIRTUAL_ENV",
    "npm_config_registry",
    "npm_config_cache",
    "GIT_AUTHOR_NAME",
    "GIT_COMMITTER_EMAIL",
    "GIT_TERMINAL_PROMPT",
    "CARGO_HOME",
    "GOPATH",
    "JAVA_HOME",
    "EDITOR",
    "OLD_PATH",
    "ENVIRONMENT",
  ])("not %s", name => {
    expect(isLoaderName(name)).toBe(false)
  })
})

test("what is always passed on is neither secret nor loader", () => {
  for (const name of ["PATH", "HOME", "TEMP", "TMP", "TMPDIR", "LANG", "TERM", "TZ", "USER"])
    expect(alwaysIncluded).toContain(name)
  for (const name of alwaysIncluded)
    expect([name, isSecretName(name), isLoaderName(name)]).toEqual([name, false, false])
})

describe("patterns of the configuration", () => {
  test.each([
    ["MY_TOKEN", "*_TOKEN", true],
    ["my_token", "*_TOKEN", true],
    ["TOKEN", "*_TOKEN", false],
    ["INTERNAL_X", "INTERNAL_*", true],
    ["A_B_C", "A*C", true],
    ["A.B", "A.B", true],
    ["AxB", "A.B", false],
    ["A+B", "A+B", true],
    ["AAB", "A+B", false],
    ["anything", "*", true],
    ["X", "", false],
  ])("%s against %s", (name, pattern, expected) => {
    expect(matchesPattern(name, pattern)).toBe(expected)
  })
})

describe("the values to look for", () => {
  test("are those of secret-looking variables", () => {
    expect(
      secretValuesOf({ API_TOKEN: "abcd-1234-efgh", HOME: "/home/bob-the-builder", X: "abcd-1234-efgh-x" }),
    ).toEqual(["abcd-1234-efgh"])
  })

  test("passwords in addresses, whatever the variable is called, as they are and decoded", () => {
    expect(secretValuesOf({ HTTP_PROXY: "http://me:p%40ssword1@proxy:3128" })).toEqual([
      "p%40ssword1",
      "p@ssword1",
    ])
    expect(secretValuesOf({ X_URL: "redis://:100%sure-thing@h" })).toEqual(["100%sure-thing"])
  })

  test("a database address with its password is hidden as a whole too", () => {
    const url = "postgres://bob:hunter2222@db/app"
    expect(secretValuesOf({ DATABASE_URL: url })).toEqual(["hunter2222", url])
  })

  test.each([
    ["too short", { API_TOKEN: "abc1234" }],
    ["empty", { API_TOKEN: "" }],
    ["missing", { API_TOKEN: undefined }],
    ["a word about it", { API_TOKEN: "required", NPM_AUTH: "disabled" }],
    ["a common word", { DB_PASSWORD: "postgres", X_KEY: "production" }],
    ["a placeholder", { API_TOKEN: "changeme", B_TOKEN: "xxxxxxxxxxxx" }],
    ["a path", { SSH_KEY: "/home/bob/.ssh/id_rsa", GOOGLE_APPLICATION_CREDENTIALS: "/etc/google/key.json" }],
    ["a small number", { CACHE_KEY: "12345678" }],
    [
      "an address without a password",
      { DATABASE_URL: "sqlite:///var/db/app.db", SENTRY_DSN: "https://sentry.example.org" },
    ],
  ])("are none when %s", (_, environment) => {
    expect(secretValuesOf(environment)).toEqual([])
  })

  test("a webhook is secret as a whole", () => {
    expect(secretValuesOf({ SLACK_WEBHOOK_URL: "https://hooks.example.org/T0/B0/x1y2" })).toEqual([
      "https://hooks.example.org/T0/B0/x1y2",
    ])
  })
})
