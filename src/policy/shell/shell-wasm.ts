/** The value of importing such a file with `type: "file"`: its path, also inside a compiled binary that embeds it. */
declare module "*.wasm" {
  const path: string
  // biome-ignore lint/style/noDefaultExport: the form in which the bundler hands out an embedded file
  export default path
}
