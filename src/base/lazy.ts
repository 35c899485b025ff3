/** The same answer for the same object, worked out once and kept as long as the object is. */
export function onceFor<Key extends object, Value>(make: (key: Key) => Value): (key: Key) => Value {
  const made = new WeakMap<Key, { readonly value: Value }>()
  return key => {
    const known = made.get(key)
    if (known !== undefined) return known.value
    const value = make(key)
    made.set(key, { value })
    return value
  }
}

/** Builds a value when it is first asked for. For what is costly to build and seldom needed, such as a schema. */
export function lazily<Value>(build: () => Value): () => Value {
  let built: { readonly value: Value } | null = null
  return () => {
    built ??= { value: build() }
    return built.value
  }
}
