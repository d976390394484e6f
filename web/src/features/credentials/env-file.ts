/** Makes a `.env` that is read back as it was meant, whatever the values hold. */
export function envText(values: readonly { name: string; value: string }[]): string {
  return values.map(({ name, value }) => `${name}=${quoted(value)}\n`).join('')
}

/** In single quotes a value is taken as it is; with one in it, double quotes and escapes do. */
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

/** Names that have a value now and would have none after a new `.env` of these variables. */
export function lostNames(present: readonly string[], written: ReadonlySet<string>): string[] {
  return present.filter((name) => !written.has(name))
}
