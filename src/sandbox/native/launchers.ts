import { statSync } from "node:fs"
import { openMemoryFile, openProgramFile } from "../../base/libc.ts"
import type { Architecture } from "../process/seccomp.ts"
import { isWithin } from "../tree/paths.ts"
import { launcherBytes } from "./launcher-bytes.ts"

/** A program that executes a list of calls. Every one executes the same lists. */
export interface Launcher {
  readonly kind: "native" | "perl"
  /** The program that it is, unless acode brings it along: when that changes, a trial of before says nothing. */
  readonly program: string | null
  /** Its arguments, given the number under which the child has the image open. */
  argv(image: number): readonly string[]
  /** The descriptor of its code; opened once for all, and closed when acode ends. */
  image(): number
}

/** The launcher that acode carries: one static program, compiled from launcher.c. */
export function nativeLauncher(architecture: Architecture): Launcher {
  return {
    kind: "native",
    program: null,
    argv: image => [`/proc/self/fd/${image}`],
    image: () =>
      onceFor(`native ${architecture}`, () => {
        const content = Buffer.from(launcherBytes[architecture], "base64")
        return openProgramFile("launcher", content)
      }),
  }
}

const images = new Map<string, number>()

function onceFor(name: string, open: () => number): number {
  const known = images.get(name) ?? open()
  images.set(name, known)
  return known
}

/** The directories in which distributions install it. PATH is not used: it may name the workspace first. */
const programDirectories = ["/usr/bin", "/usr/local/bin", "/bin", "/run/current-system/sw/bin"] as const

/** The launcher for systems that start no program from memory; null where there is no perl outside the workspace. */
export function perlLauncher(
  architecture: Architecture,
  workspaceRoot: string,
  directories: readonly string[] = programDirectories,
): Launcher | null {
  const program = directories
    .filter(path => !isWithin(path, workspaceRoot))
    .map(path => `${path}/perl`)
    .find(path => statSync(path, { throwIfNoEntry: false })?.isFile() === true)
  if (program === undefined) return null
  return {
    kind: "perl",
    program,
    argv: image => [program, `/proc/self/fd/${image}`],
    image: () =>
      onceFor(`perl ${architecture}`, () => {
        const script = perlScript(perlNumbers[architecture])
        return openMemoryFile("launcher", Buffer.from(script))
      }),
  }
}

const perlNumbers = {
  x64: { write: 1, mmap: 9, pwrite: 18, wait4: 61, exit: 231 },
  arm64: { write: 64, mmap: 222, pwrite: 68, wait4: 260, exit: 94 },
} as const

/**
 * The same program as launcher.c. Its memory is shared with the descriptor of the list, because perl cannot write to an
 * address: so what the child of a fork would store must not overwrite what its parent has stored.
 */
function perlScript({ write, mmap, pwrite, wait4, exit }: (typeof perlNumbers)[Architecture]): string {
  return `use strict;
my ($base, $refused) = (0x10000000, 125);
sub leave { syscall(${exit}, $_[0]) while 1 }
sub number { unpack('l<', unpack('P4', pack('J', $_[0]))) }
open(my $list, '+<&=', 3) or leave($refused);
my $size = -s $list;
leave($refused) if syscall(${mmap}, $base, $size, 3, 0x100001, 3, 0) != $base;
my $bytes = unpack("P$size", pack('J', $base));
my ($magic, $status, $count, $calls) = unpack('V4', $bytes);
leave($refused) if $magic != 0x31434c41;
for (my $index = 0; $index < $count; $index++) {
  my ($nr, $loads, $kind, $accepted, $least, $store, $jump, @args) =
    unpack('V v v l< l< Q< Q< q<6', substr($bytes, $calls + $index * 80, 80));
  for (0 .. 5) { $args[$_] = number($args[$_]) if $loads & (1 << $_) }
  my $result;
  if ($kind == 1) {
    do { $result = syscall(${wait4}, -1, $args[1], 0, $args[2]) } until $result < 0 || $result == $args[0];
  } elsif ($kind == 2) {
    my $ending = $args[0];
    leave(($ending & 0x7f) == 0 ? ($ending >> 8) & 0xff : 128 + ($ending & 0x7f));
  } else {
    $result = syscall($nr, @args);
  }
  my $error = $result < 0 ? $! + 0 : 0;
  if ($result < 0 && ($accepted == -1 || $error == $accepted)) { $result = 0 }
  elsif ($result < $least) {
    syscall(${write}, $status, pack('V4', 2, $index, $error, 0), 16);
    last;
  }
  syscall(${pwrite}, 3, pack('l<', $result), 4, $store - $base) if $store && ($result > 0 || !$jump);
  $index = $jump - 1 if $result > 0 && $jump;
}
leave($refused);
`
}
