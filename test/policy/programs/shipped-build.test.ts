import { describe, expect, test } from "bun:test"
import { buildRules } from "../../../src/policy/programs/shipped-build.ts"
import { decideOn, execute } from "../policy-kit.ts"

const decision = (command: string) => decideOn([execute(command.split(" "))]).decision

describe("building, testing and linting", () => {
  test.each([
    "tsc",
    "tsc -p . --noEmit",
    "webpack --mode production",
    "esbuild a.ts --bundle",
    "jest --coverage",
    "vitest run",
    "vitest --run",
    "pytest -x -k a",
    "mocha --grep x",
    "eslint . --fix",
    "eslint --ext .ts src",
    "prettier --write .",
    "biome check .",
    "ruff check --fix",
    "mypy --strict src",
    "vite build",
    "playwright test",
    "gcc -Wall -c a.c",
    "clang++ -std=c++20 -o a a.cc",
    "javac -d out A.java",
    "ninja -C build",
    "meson test",
    "bazel test //...",
    "cargo build --release",
    "cargo test -p a -- --nocapture",
    "cargo -q check",
    "go test -race -count=1 ./...",
    "go build -o bin/a .",
    "go list ./...",
    "go env",
    "go mod graph",
    "dotnet build",
    "dotnet test -c Release",
    "gradle build -x test",
    "mvn -q test",
    "mix test",
    "swift build",
    "zig build",
    "rake test",
    "shellcheck a.sh",
    "gofmt -w .",
    "golangci-lint run",
  ])("%s passes", command => {
    expect(decision(command)).toBe("allow")
  })

  test.each([
    "esbuild --serve a",
    "jest --globalSetup x",
    "playwright codegen",
    "vite dev",
    "vite",
    "gcc -fplugin=x a.c",
    "gcc -B. a.c",
    "gcc -specs=x a.c",
    "clang -Xclang -load a.c",
    "javac -J-x A.java",
    "rustc a.rs",
    "ninja -t clean",
    "ninja -f x",
    "meson install",
    "bazel run x",
    "bazel test --run_under=x //a",
    "cargo run",
    "cargo install x",
    "cargo build --config x",
    "cargo +nightly build",
    "cargo --config x build",
    "cargo publish",
    "cargo fix",
    "go run .",
    "go generate",
    "go install x",
    "go get x",
    "go mod tidy",
    "go test -exec x",
    "go test -exec=x",
    "go test --toolexec=x",
    "go build -ldflags x",
    "go build -overlay=x",
    "go env -w A=b",
    "go tool x",
    "dotnet run",
    "dotnet restore",
    "dotnet build -p:X=y",
    "dotnet build /p:X=y",
    "gradle -I x build",
    "gradle publish",
    "gradle build -Px=y",
    "mvn deploy",
    "mvn exec:java",
    "mvn -s x test",
    "mvn -Dx=y test",
    "java -jar a.jar",
    "rake deploy",
    "swift run",
    "mix deps.get",
  ])("%s is asked", command => {
    expect(decision(command)).toBe("ask")
  })

  test("what a build makes may not land on a protected name", () => {
    for (const command of ["gcc -o .git/hooks/a a.c", "go build -o .husky/a .", "javac -d .vscode A.java"])
      expect(decision(command)).toBe("deny")
  })
})

test("every rule says what it is for", () => {
  expect(new Set(buildRules.map(({ rule }) => rule))).toEqual(new Set(["build", "test", "lint", "version"]))
})
