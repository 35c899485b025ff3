import { describe, expect, test } from "bun:test"
import { judgeCmake, judgeMake, judgeTar } from "../../../src/policy/programs/analysis.ts"
import { findingsOf, layer, touchesOf } from "../policy-kit.ts"

const judged = (judge: typeof judgeMake, command: string) => {
  const found = layer(command)
  judge(found)
  return findingsOf(found)
}

describe("make", () => {
  test.each([
    "make",
    "make test",
    "make -j4 all",
    "make -C src",
    "make -n x",
    "make -k -s",
    "make V=1",
    "make --dry-run",
    "make -j 4",
    "make BUILD_TYPE=debug test",
  ])("%s builds", command => {
    expect(judged(judgeMake, command)).toEqual([])
  })

  const risky: readonly (readonly [string, string])[] = [
    ["make CC=./x", "ask commands.make-variable@1"],
    ["make SHELL=x", "ask commands.make-variable@1"],
    ["make X:=y", "ask commands.make-variable@1"],
    ["make X::=y", "ask commands.make-variable@1"],
    ["make X!=id", "ask commands.make-variable@1"],
    ["make V=$(id)", "ask commands.make-variable@1"],
    ["make .SHELLFLAGS=x", "ask commands.make-variable@1"],
    ["make -f x", "ask commands.option@1"],
    ["make --file=x", "ask commands.option@1"],
    ["make --eval=x", "ask commands.option@1"],
    ["make --ev=x", "ask commands.option@1"],
    ["make -I x", "ask commands.option@1"],
    ["make install", "ask commands.make-target@1"],
    ["make deploy", "ask commands.make-target@1"],
    ["make a publish", "ask commands.make-target@2"],
    ["make {?}", "ask commands.dynamic-option@1"],
  ]
  test.each(risky)("%s does more", (command, finding) => {
    expect(judged(judgeMake, command)).toContain(finding)
  })

  test("goes where it is sent", () => {
    const found = layer("make -C sub test")
    judgeMake(found)
    expect(touchesOf(found)).toEqual(["list sub@1"])
  })
})

describe("cmake", () => {
  test.each([
    "cmake .",
    "cmake -S . -B build",
    "cmake --build build -j 4",
    "cmake -DCMAKE_BUILD_TYPE=Release .",
    "cmake --build build --target test",
    "cmake -G Ninja .",
    "cmake --preset x",
  ])("%s builds", command => {
    expect(judged(judgeCmake, command)).toEqual([])
  })

  test.each([
    "cmake -E rm -rf x",
    "cmake -P x.cmake",
    "cmake --install build",
    "cmake -DCMAKE_C_COMPILER=x .",
    "cmake -C x",
    "cmake --build build --target install",
    "cmake --open x",
    "cmake {?}",
  ])("%s does more", command => {
    expect(judged(judgeCmake, command)).not.toEqual([])
  })
})

describe("tar", () => {
  test.each([
    "tar -tf x",
    "tar tf x",
    "tar tzf x",
    "tar -tzvf x",
    "tar --list --file=x",
    "tar --list --file x",
    "tar -tf x a/b",
  ])("%s lists", command => {
    expect(judged(judgeTar, command)).toEqual([])
  })

  test.each([
    "tar xf x",
    "tar -xf x",
    "tar cf x y",
    "tar",
    "tar -tf x --to-command=y",
    "tar -tf x --checkpoint-action=exec=y",
    "tar -tf x --checkpoint-a=exec=y",
    "tar -tf x -I y",
    "tar -tf x --use-compress-program=y",
    "tar -tf x -F y",
    "tar tf x --rsh-command=y",
    "tar -tf host:x",
    "tar -tf x {*}",
  ])("%s does more", command => {
    expect(judged(judgeTar, command)).not.toEqual([])
  })

  test("reads the archive it is told to", () => {
    const found = layer("tar tzf secrets.tgz")
    judgeTar(found)
    expect(touchesOf(found)).toEqual(["read secrets.tgz@2"])
  })
})
