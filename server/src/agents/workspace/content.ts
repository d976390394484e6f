import { posix } from 'node:path'

/** Types that browsers show without running code; HTML, SVG and scripts are shown as text. */
const types: Record<string, string> = {
  '.png': 'image/png',
  '.jpg': 'image/jpeg',
  '.jpeg': 'image/jpeg',
  '.gif': 'image/gif',
  '.webp': 'image/webp',
  '.pdf': 'application/pdf',
}
const textual = new Set(
  (
    '.txt .md .markdown .csv .tsv .log .json .jsonl .ndjson .yaml .yml .toml .ini .cfg .conf .xml .svg .html .htm ' +
    '.css .js .mjs .cjs .jsx .ts .tsx .py .rb .go .rs .java .c .h .cpp .hpp .cs .php .sh .bash .zsh .sql .vue ' +
    '.svelte .tex .rst .diff .patch .env .gitignore .template .example'
  ).split(' '),
)
const textualNames = new Set([
  'Makefile',
  'Dockerfile',
  'LICENSE',
  'README',
  'CHANGELOG',
  '.gitignore',
  '.env',
])

/** The media type for showing a file inline; null if it should be downloaded. */
export function inlineType(path: string): string | null {
  const name = posix.basename(path)
  const extension = posix.extname(name).toLowerCase()
  const known = types[extension]
  if (known) return known
  return textual.has(extension) || textualNames.has(name) ? 'text/plain; charset=utf-8' : null
}

/**
 * Returns `attachment; filename=…` for any name: an ASCII form for old clients and the exact name for others.
 */
export function disposition(kind: 'attachment' | 'inline', name: string): string {
  const ascii = name.replaceAll(/[^\x20-\x7e]/g, '_').replaceAll(/["\\%]/g, '_')
  const encoded = encodeURIComponent(name.toWellFormed()).replaceAll(
    /['()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  )
  return `${kind}; filename="${ascii}"; filename*=UTF-8''${encoded}`
}

export const safeHeaders = {
  'x-content-type-options': 'nosniff',
  'content-security-policy': "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:",
  'cache-control': 'private, no-store',
}

export type Range = { start: number; end: number }

/**
 * Parses one `bytes=…` range with an inclusive end. `all` means no range, or a form that may be ignored.
 * `outside` means that the file contains no byte of the range.
 */
export function parseRange(header: string | undefined, size: number): Range | 'all' | 'outside' {
  const match = /^bytes=(\d{0,15})-(\d{0,15})$/.exec(header?.trim() ?? '')
  if (!match) return 'all'
  const [, first = '', last = ''] = match
  if (first === '' && last === '') return 'all'
  if (first === '') {
    const length = Number(last)
    if (length === 0 || size === 0) return 'outside'
    return { start: Math.max(0, size - length), end: size - 1 }
  }
  const start = Number(first)
  const end = last === '' ? size - 1 : Math.min(Number(last), size - 1)
  if (last !== '' && Number(last) < start) return 'all'
  return start >= size ? 'outside' : { start, end }
}
