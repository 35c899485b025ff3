/** Builds a value when it is first asked for. For what is costly to build and seldom needed, such as a schema. */
export function lazily<Value>(build: () => Value): () => Value {
  let built: { readonly value: Value } | null = null
  return () => {
    built ??= { value: build() }
    return built.value
  }
}
