/** How the lines of a text end; `mixed` ones cannot be kept by an editor. */
export type LineEnds = 'lf' | 'crlf' | 'mixed'

export type EditableText = { text: string; ends: LineEnds }

/** The text with line feeds alone, as an editor holds it. */
export function toEditable(raw: string): EditableText {
  const text = raw.replaceAll(/\r\n?/g, '\n')
  if (text === raw) return { text, ends: 'lf' }
  return { text, ends: text.replaceAll('\n', '\r\n') === raw ? 'crlf' : 'mixed' }
}

/** The text as it is written to the file; what was mixed ends its lines with line feeds from now on. */
export function fromEditable({ text, ends }: EditableText): string {
  return ends === 'crlf' ? text.replaceAll('\n', '\r\n') : text
}

/** The text in bytes that are UTF-8 without U+0000; null for anything else. */
export function decodeText(bytes: Uint8Array, isCut = false): string | null {
  if (bytes.includes(0)) return null
  try {
    // The mark at the beginning belongs to the file and is written back with it.
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes, { stream: isCut })
  } catch {
    return null
  }
}

/** What the editor's grammar goes by: the ending of the name, or the name where that says more. */
export function languageOf(name: string): string {
  const lower = name.toLowerCase()
  if (lower === 'dockerfile' || lower.startsWith('dockerfile.')) return 'dockerfile'
  if (lower.startsWith('.env')) return 'env'
  if (['.bashrc', '.profile', '.bash_profile', '.zshrc'].includes(lower)) return 'sh'
  return /\.([^.]+)$/.exec(lower)?.[1] ?? ''
}

export function isMarkdown(name: string): boolean {
  return /\.(md|markdown)$/i.test(name)
}

/**
 * JSON on one line, set out for reading; null for all else. Only text that is written exactly as this page
 * would write it is taken apart, so that no number or key reads other than it is in the file.
 */
export function formattedJson(name: string, text: string): string | null {
  if (!/\.json$/i.test(name) || text.length > 500_000) return null
  const line = text.trim()
  try {
    const value: unknown = JSON.parse(line)
    const formatted = JSON.stringify(value, null, 2)
    return JSON.stringify(value) === line && formatted !== line ? formatted : null
  } catch {
    return null
  }
}
