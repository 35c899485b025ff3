import type { Sandbox } from "../../../src/sandbox/contract.ts"

/** Stand-in until the real one lands. */
export const plainSandbox: Sandbox = {
  kind: "none",
  prepare: async confinement => ({
    spawn: { argv: confinement.argv, env: confinement.environment, cwd: confinement.cwd, extra: [] },
    attach: async child => {
      const signal = (name: NodeJS.Signals) => {
        try {
          process.kill(-child.pid, name)
        } catch {
          // gone
        }
      }
      return {
        kill: async () => {
          signal("SIGKILL")
          await child.exited
        },
        terminate: () => signal("SIGTERM"),
        settle: async () => signal("SIGKILL"),
        maxRssBytes: () => null,
        limitHit: () => null,
      }
    },
    cleanUp: async () => ({ quarantined: [], quarantine: null }),
  }),
}
