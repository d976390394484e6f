/**
 * The one parser of `.env` files: `NAME=value`, optional `export`, comments, literal single quotes, and double
 * quotes with `\n`, `\r`, `\t` and `\x` for any other `x`. Quoted values may span lines. Other lines are ignored.
 */

export type Assignment = { name: string; value: string }

const value = String.raw`(?:'([^']*)'|"((?:\\[\s\S]|[^"\\])*)"|([^\n]*))`
/** Groups: text before the name, name, `=` and blanks, then the value in one of three forms. */
const assignment = new RegExp(
  String.raw`(?<![^\n])([ \t]*(?:export[ \t]+)?)([A-Za-z_][A-Za-z0-9_]*)([ \t]*=[ \t]*)${value}`,
  'g',
)
const iniAssignment = new RegExp(
  String.raw`(?<![^\n])([ \t]*(?:export[ \t]+)?)([^\s=#;[\]]+)([ \t]*[=:][ \t]*)${value}`,
  'g',
)
const escapes: Record<string, string> = { n: '\n', r: '\r', t: '\t' }

/** Returns the variables of a `.env`. The last assignment of a name counts. */
export function parseDotenv(text: string): Record<string, string> {
  return Object.fromEntries(readAssignments(text).map(({ name, value }) => [name, value]))
}

/** Returns each assignment of a `.env` in order, duplicates included. No environment holds a value with a NUL. */
export function readAssignments(text: string): Assignment[] {
  return read(text, assignment).filter(({ value }) => !value.includes('\0'))
}

/** Like `readAssignments` for `.npmrc` and `.pypirc`: any name, with `=` or `:` after it. */
export function readIniAssignments(text: string): Assignment[] {
  return read(text, iniAssignment)
}

/** Replaces values of a `.env`; null keeps the assignment as written. Comments stay, line ends become `\n`. */
export function rewriteAssignments(
  text: string,
  valueFor: (name: string, value: string) => string | null,
): string {
  return plainLines(text).replaceAll(
    assignment,
    (whole, before: string, name: string, sign: string, ...groups: [string?, string?, string?]) => {
      const [single, double, plain = ''] = groups
      const present = plainValue(sign, single, double, plain)
      const replacement = valueFor(name, present)
      if (replacement === null) return whole
      const comment = single === undefined && double === undefined ? commentOf(sign, plain) : ''
      const gap = comment.startsWith('#') ? ' ' : ''
      return `${before}${name}${sign}${replacement}${gap}${comment}`
    },
  )
}

function read(text: string, pattern: RegExp): Assignment[] {
  return [...plainLines(text).matchAll(pattern)].map(([, , name = '', sign = '', single, double, plain]) => ({
    name,
    value: plainValue(sign, single, double, plain),
  }))
}

function plainValue(sign: string, single?: string, double?: string, plain = ''): string {
  if (single !== undefined) return single
  if (double !== undefined) {
    return double.replace(/\\([\s\S])/g, (_, character: string) => escapes[character] ?? character)
  }
  return plain.slice(0, plain.length - commentOf(sign, plain).length).trim()
}

/** Returns the comment after an unquoted value, with the blanks before it. `a#b` has none. */
function commentOf(sign: string, plain: string): string {
  if (plain.startsWith('#') && /[ \t]$/.test(sign)) return plain
  // By hand: an expression would read a long run of blanks again from each of them.
  for (let at = plain.indexOf('#'); at >= 0; at = plain.indexOf('#', at + 1)) {
    const before = plain.slice(0, at).trimEnd().length
    if (before < at) return plain.slice(before)
  }
  return ''
}

function plainLines(text: string): string {
  return text.replace(/^\uFEFF/, '').replace(/\r\n?/g, '\n')
}
