/** Writes a `.env` file that reads back unchanged for any values. */
export function envText(values: readonly { name: string; value: string }[]): string {
  return values.map(({ name, value }) => `${name}=${quoted(value)}\n`).join('')
}

/** Single quotes keep a value as is. A value with a single quote uses double quotes and escapes. */
function quoted(value: string): string {
  if (/^[A-Za-z0-9_.,:/@%+=-]*$/.test(value)) return value
  if (!value.includes("'") && !/[\r\n]/.test(value)) return `'${value}'`
  const escaped = value
    .replaceAll('\\', '\\\\')
    .replaceAll('"', '\\"')
    .replaceAll('\r', '\\r')
    .replaceAll('\n', '\\n')
  return `"${escaped}"`
}

export const variablePattern = /^[A-Za-z_][A-Za-z0-9_]*$/

/** Names that have a value now and would be missing in a new `.env` of these variables. */
export function droppedNames(present: readonly string[], written: ReadonlySet<string>): string[] {
  return present.filter((name) => !written.has(name))
}
