/** Returns a function that computes a value once for each object and keeps it as long as the object lives. */
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

/**
 * Returns a function that builds a value on its first call. Use it for values that are costly and rarely needed, such
 * as schemas.
 */
export function lazily<Value>(build: () => Value): () => Value {
  let built: { readonly value: Value } | null = null
  return () => {
    built ??= { value: build() }
    return built.value
  }
}
