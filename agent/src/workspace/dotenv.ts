/**
 * Parses a `.env`: `NAME=value`, optional `export`, comments, literal single quotes, and double quotes (with
 * `\n`, `\t`, `\"` and `\\`, also over several lines). Other lines are ignored.
 */
export function parseDotenv(text: string): Record<string, string> {
  const values: Record<string, string> = {}
  const source = text.replace(/^\uFEFF/, '').replace(/\r\n?/g, '\n')
  for (const [, name, single, double, plain = ''] of source.matchAll(assignment)) {
    if (!name) continue
    const value = single ?? (double === undefined ? plain.replace(/\s#.*$/, '').trim() : plainText(double))
    if (!value.includes('\0')) values[name] = value
  }
  return values
}

const assignment =
  /^[ \t]*(?:export[ \t]+)?([A-Za-z_][A-Za-z0-9_]*)[ \t]*=[ \t]*(?:'([^']*)'|"((?:\\[\s\S]|[^"\\])*)"|([^\n]*))/gm

function plainText(text: string): string {
  return text.replace(/\\([\s\S])/g, (_, character: string) => escapes[character] ?? character)
}

const escapes: Record<string, string> = { n: '\n', r: '\r', t: '\t' }
