/** The line endings of a text. An editor cannot preserve `mixed` ones. */
export type LineEnds = 'lf' | 'crlf' | 'mixed'

export type EditableText = { text: string; ends: LineEnds }

/** The text with LF line endings, as the editor holds it. */
export function toEditable(raw: string): EditableText {
  const text = raw.replaceAll(/\r\n?/g, '\n')
  if (text === raw) return { text, ends: 'lf' }
  return { text, ends: text.replaceAll('\n', '\r\n') === raw ? 'crlf' : 'mixed' }
}

/** The text with its original line endings. Mixed ones become LF. */
export function fromEditable({ text, ends }: EditableText): string {
  return ends === 'crlf' ? text.replaceAll('\n', '\r\n') : text
}

/** The text of valid UTF-8 bytes without U+0000; null otherwise. */
export function decodeText(bytes: Uint8Array, isCut = false): string | null {
  if (bytes.includes(0)) return null
  try {
    // A byte order mark is part of the file and is written back.
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes, { stream: isCut })
  } catch {
    return null
  }
}

/** What selects the grammar: the file extension, or a special file name. */
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

export function isTable(name: string): boolean {
  return /\.(csv|tsv)$/i.test(name)
}

/**
 * Formats single-line JSON; null for other text. Only text that serializes back identically is formatted, so
 * that no number or key changes.
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
