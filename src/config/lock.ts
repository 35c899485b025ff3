import { closeSync, openSync } from "node:fs"
import { systemClock } from "../base/clock.ts"
import { tryLock } from "../base/libc.ts"
import { Failure } from "../domain/failure.ts"

/**
 * Runs an action while no other acode changes files in this directory. The kernel's lock leaves no file behind and ends
 * with the process that holds it, so a killed acode blocks no other process.
 */
export async function withDirectoryLock<Result>(
  directory: string,
  action: () => Result | Promise<Result>,
  patienceMs = 10_000,
): Promise<Result> {
  const descriptor = openSync(directory, "r")
  try {
    await acquired(descriptor, patienceMs)
    return await action()
  } finally {
    closeSync(descriptor)
  }
}

async function acquired(descriptor: number, patienceMs: number): Promise<void> {
  const until = systemClock.monotonicMs() + patienceMs
  while (!tryLock(descriptor, "exclusive")) {
    if (systemClock.monotonicMs() > until) throw busy()
    await Bun.sleep(5)
  }
}

function busy(): Failure {
  return new Failure({
    kind: "config",
    code: "ACODE-CFG-001",
    message: "another acode process has locked the configuration and does not finish",
    hint: "end that process and try again",
  })
}
