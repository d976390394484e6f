/** As the agent's program reads a `.env`; the parts before a value are kept as they are. */
const assignment =
  /^([ \t]*(?:export[ \t]+)?)([A-Za-z_][A-Za-z0-9_]*)([ \t]*=[ \t]*)(?:'([^']*)'|"((?:\\[\s\S]|[^"\\])*)"|([^\n]*))/gm
const escapes: Record<string, string> = { n: '\n', r: '\r', t: '\t' }

/** Each assignment of a `.env`, in its order; a name may stand there twice. */
export function readAssignments(text: string): { name: string; value: string }[] {
  return [...plainLines(text).matchAll(assignment)].map(([, , name = '', , ...value]) => ({
    name,
    value: plainValue(value),
  }))
}

/** The text with other values; null keeps the assignment as it is written. */
export function rewriteAssignments(
  text: string,
  valueFor: (name: string, value: string) => string | null,
): string {
  return plainLines(text).replaceAll(
    assignment,
    (whole, before: string, name: string, sign: string, ...rest: (string | undefined)[]) => {
      const value = valueFor(name, plainValue(rest))
      return value === null ? whole : `${before}${name}${sign}${value}`
    },
  )
}

function plainValue([single, double, plain = '']: (string | undefined)[]): string {
  if (single !== undefined) return single
  if (double === undefined) return plain.replace(/\s#.*$/, '').trim()
  return double.replace(/\\([\s\S])/g, (_, character: string) => escapes[character] ?? character)
}

function plainLines(text: string): string {
  return text.replace(/^\uFEFF/, '').replace(/\r\n?/g, '\n')
}
