import type { ModelItem, ModelRequest, Provider } from "../contract.ts"
import { requestWithoutFormat } from "./rung-request.ts"

/**
 * The same model, for a server that may be unable to force a shape: many can call tools and refuse a schema, or this
 * schema. Then the model is told the shape, at once and from then on. What a server can do there is seen only when it
 * is asked, so it is not tried out: it would cost every model a request, and say nothing about the next schema.
 */
export function withToldFormat(provider: Provider): Provider {
  const server = { takesFormats: true }
  return {
    name: provider.name,
    ask: (request, signal) => {
      if (request.format === null) return provider.ask(request, signal)
      if (!server.takesFormats) return provider.ask(requestWithoutFormat(request), signal)
      return forcedOrTold(provider, request, signal, () => {
        server.takesFormats = false
      })
    },
  }
}

async function* forcedOrTold(
  provider: Provider,
  request: ModelRequest,
  signal: AbortSignal,
  refused: () => void,
): AsyncGenerator<ModelItem> {
  let isFirst = true
  for await (const item of provider.ask(request, signal)) {
    // Nothing has been said yet, so nothing is said twice.
    if (isFirst && isRefusal(item)) return yield* told(provider, request, signal, item, refused)
    isFirst = false
    yield item
  }
}

/** Where it is refused without a format too, the format was not why, and the first refusal is what counts. */
async function* told(
  provider: Provider,
  request: ModelRequest,
  signal: AbortSignal,
  first: ModelItem,
  refused: () => void,
): AsyncGenerator<ModelItem> {
  let isFirst = true
  for await (const item of provider.ask(requestWithoutFormat(request), signal)) {
    if (isFirst && isRefusal(item)) return yield first
    if (isFirst && item.kind !== "failure") refused()
    isFirst = false
    yield item
  }
}

function isRefusal(item: ModelItem): boolean {
  return item.kind === "failure" && item.failure.kind === "badRequest"
}
