import { networkInterfaces } from "node:os"

/** An address of this machine that is not its loopback: to acode it is elsewhere. */
export const ownAddress = Object.values(networkInterfaces())
  .flat()
  .find(each => each?.family === "IPv4" && !each.internal)?.address
export const noAddress = ownAddress === undefined ? "this machine has no address but its loopback" : null
