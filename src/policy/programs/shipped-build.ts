import type { ShippedRule } from "./shipped-files.ts"
import type { Usage } from "./usage.ts"

const plain: Usage = {}
const compiler: Usage = {
  longDash: true,
  valued: "-o -I -L -l -D -U -include -isystem -x -MF -MT -MQ",
  outputs: "-o",
  asked:
    "-fplugin -wrapper -specs -B -Xclang -fuse-ld -load -no-canonical-prefixes --config -fpass-plugin -Xlinker",
}
const goBuild: Usage = {
  longDash: true,
  valued: "-o -run -tags -count -timeout -p -bench -coverprofile -mod -C -ldflags -gcflags -v-format",
  outputs: "-o -coverprofile -cpuprofile -memprofile -trace -outputdir",
  asked:
    "-exec -toolexec -overlay -modfile -ldflags -gcflags -asmflags -gccgoflags -vettool -pkgdir -compiler " +
    "--exec --toolexec --overlay --modfile --ldflags --gcflags --vettool",
}
const cargoBuild: Usage = {
  asked: "--config --target-dir --manifest-path -Z --artifact-dir",
  valued:
    "-p -j --package --features --target --test --bin --example --bench --profile --message-format --color -F",
}

/** Compilers, build tools, test runners, linters and formatters. They run the workspace's own code, confined. */
export const buildRules: readonly ShippedRule[] = [
  {
    rule: "build",
    programs:
      "tsc vue-tsc svelte-check swc babel esbuild webpack rollup parcel tsup ncc sass postcss typedoc knip depcruise " +
      "size-limit attw publint turbo nx lage",
    usage: { asked: "--serve --servedir --on-end --open --token --api --require" },
  },
  {
    rule: "test",
    programs:
      "jest vitest mocha ava tap tape jasmine karma qunit uvu wtr pytest py.test nosetests tox nox rspec cucumber " +
      "minitest phpunit pest ctest gotestsum bats shellspec busted behave robot luacheck hypothesis",
    usage: {
      asked: "--ui --open --globalSetup --runner --testRunner --script-shell",
      plain: "--run --s --test",
    },
  },
  {
    rule: "lint",
    programs:
      "eslint prettier biome stylelint oxlint dprint standard xo tslint markdownlint markdownlint-cli2 yamllint jsonlint " +
      "commitlint cspell mypy pyright ruff black flake8 pylint isort pyflakes pycodestyle pydocstyle bandit vulture " +
      "autopep8 yapf rubocop standardrb golangci-lint staticcheck revive gofmt gofumpt goimports rustfmt clang-format " +
      "clang-tidy cppcheck cpplint shellcheck shfmt hadolint actionlint ktlint detekt checkstyle spotbugs swiftlint " +
      "swiftformat phpstan psalm phpcs php-cs-fixer hlint ormolu fourmolu stylua taplo sqlfluff djlint",
    usage: { asked: "--lsp --server --daemon --exec" },
  },
  {
    rule: "build",
    programs: "vite astro next nuxt remix gatsby ng vue-cli-service",
    usage: { commands: { build: plain, check: plain, lint: plain, info: plain, test: plain } },
  },
  {
    rule: "test",
    programs: "playwright cypress",
    usage: { commands: { test: { asked: "--ui --headed" }, run: plain, verify: plain, info: plain } },
  },
  { rule: "build", programs: "gcc g++ cc c++ clang clang++", usage: compiler },
  {
    rule: "build",
    programs: "javac kotlinc",
    usage: { longDash: true, outputs: "-d", asked: "-J -processor -Xplugin" },
  },
  { rule: "build", programs: "rustc", usage: { ask: "it takes linkers and plug-ins from its options" } },
  { rule: "build", programs: "ninja samu", usage: { valued: "-C -j -k -l -f", asked: "-f -t -d" } },
  {
    rule: "build",
    programs: "meson",
    usage: { commands: { compile: plain, test: { asked: "--wrap --wrapper --gdb" }, introspect: plain } },
  },
  {
    rule: "build",
    programs: "bazel bazelisk buck2",
    usage: {
      asked: "--bazelrc --output_base --host_jvm_args",
      commands: {
        build: { asked: "--run_under" },
        test: { asked: "--run_under" },
        query: plain,
        cquery: plain,
      },
    },
  },
  {
    rule: "build",
    programs: "cargo",
    usage: {
      only: "-v -q --verbose --quiet --offline --locked --frozen --color --version -V --list",
      valued: "--color",
      commands: {
        ...every("build b check c test t clippy fmt doc d bench rustdoc nextest", cargoBuild),
        ...every(
          "tree metadata version verify-project read-manifest locate-project pkgid clean help",
          cargoBuild,
        ),
      },
    },
  },
  {
    rule: "build",
    programs: "go",
    usage: {
      longDash: true,
      commands: {
        ...every("build test vet", goBuild),
        ...every("list version doc fmt help clean", {
          longDash: true,
          asked: "-exec -toolexec -overlay -modfile",
        }),
        env: { longDash: true, only: "-json -changed" },
        mod: { longDash: true, commands: every("graph why verify", { longDash: true, asked: "-modfile" }) },
      },
    },
  },
  {
    rule: "build",
    programs: "dotnet",
    usage: {
      only: "--version --info --list-sdks --list-runtimes -h --help",
      commands: every("build test clean format", {
        longDash: true,
        asked: "-p -property /p --property --settings --logger --test-adapter-path --collect",
      }),
    },
  },
  {
    rule: "build",
    programs: "gradle gradlew",
    usage: {
      valued: "-x --exclude-task --tests --console",
      asked:
        "-I --init-script -b --build-file -g --gradle-user-home -P --project-prop -D --system-prop --scan -p",
      commands: every(
        "build test check assemble clean classes testClasses compileJava compileKotlin compileTestJava jar tasks " +
          "dependencies properties projects lint detekt ktlintCheck spotlessCheck help javadoc",
        { asked: "-I --init-script -b -g -P --project-prop -D --system-prop --scan", valued: "-x --tests" },
      ),
    },
  },
  {
    rule: "build",
    programs: "mvn mvnw",
    usage: {
      valued: "-pl -P",
      asked: "-s --settings -gs -f --file -t --toolchains -D --define",
      commands: every("compile test verify package clean validate test-compile integration-test", {
        asked: "-s -f --file -D --define",
      }),
    },
  },
  {
    rule: "build",
    programs: "swift zig mix rebar3 stack cabal sbt dune flutter dart",
    usage: {
      commands: every("build test compile format check analyze xref dialyzer ct eunit haddock version fmt", {
        asked: "--exec --with-compiler --package-path --ghc-options --pkg-config-path",
      }),
    },
  },
  {
    rule: "build",
    programs: "rake",
    usage: { commands: every("test spec lint rubocop build check", plain), asked: "-e -p -E -r -f" },
  },
  {
    rule: "build",
    programs: "terraform-docs protoc buf",
    usage: { asked: "--plugin --template", commands: every("lint build", plain) },
  },
  {
    rule: "version",
    programs: "java",
    usage: { longDash: true, ask: "it runs code that is given to it" },
  },
]

function every(names: string, usage: Usage): Record<string, Usage> {
  return Object.fromEntries(names.split(" ").map(name => [name, usage]))
}
