import { createConfinedSandbox } from "../confined.ts"
import type { Sandbox } from "../contract.ts"
import { refuseLayers } from "../layers.ts"
import type { BwrapSettings } from "../settings.ts"
import { launchConfined } from "./launch.ts"

export function createBwrapSandbox(settings: BwrapSettings): Sandbox {
  return createConfinedSandbox(settings, {
    kind: "bwrap",
    // Bubblewrap has overlays from 0.11 on, and even then syncs every file that it copies up.
    check: confinement => refuseLayers(confinement, "bubblewrap"),
    launch: prepared => launchConfined(prepared, settings),
  })
}
