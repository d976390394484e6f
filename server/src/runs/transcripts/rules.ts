import { maxLineBytes } from '@roost/contracts/link/messages'
import type { StoredLine, TranscriptLine } from '@roost/contracts/link/transcript'
import { maskJson } from '../../kit/mask-secrets.ts'

/** A line as stored: its JSON text, and the parsed line for live readers. */
export type NumberedLine = { n: number; line: StoredLine; text: string }

/** Maximum of what a run stores as its transcript. */
export const maxTranscriptBytes = 128 * 1024 * 1024
/** Maximum of what the runs of an agent store on one day (UTC), in MiB; each run may store its first one. */
export const maxDailyMebibytes = 2048
/** A short line takes space in tables and indexes, too. */
const minLineSize = 1024

/** Size of these lines in bytes, as the limits count it. */
export function sizeOfLines(lines: readonly NumberedLine[]): number {
  return lines.reduce((sum, { text }) => sum + Math.max(minLineSize, Buffer.byteLength(text)), 0)
}

/**
 * Gives a line its number and time, masks the known secrets, and truncates it to `maxLineBytes`. Fields such
 * as `_n` from the agent are replaced. The length of a line that the agent truncated stays, because only the
 * agent saw the full line.
 */
export function numberLine(
  line: TranscriptLine,
  n: number,
  at: string,
  secrets: readonly string[],
): NumberedLine {
  const { _truncated, _length, ...plain } = line as TranscriptLine & Partial<Record<Mark, unknown>>
  const agentLength = _truncated === true && isLength(_length) ? _length : null
  const marks = agentLength === null ? {} : { _truncated: true as const, _length: agentLength }
  // The marks come last, so that they override fields of the same name.
  const numbered = { ...plain, ...marks, _n: n, _ts: at } as StoredLine
  const whole = jsonOf(numbered)
  const written = whole === null ? bare(numbered, { _truncated: true, _length: 0 }) : numbered
  const raw = whole ?? JSON.stringify(written)
  const text = maskJson(raw, secrets)
  const masked = text === raw ? written : (JSON.parse(text) as StoredLine)
  const length = Buffer.byteLength(text)
  if (length <= maxLineBytes) return { n, line: masked, text }
  const cut = cutLine(masked, Math.max(length, agentLength ?? 0))
  return { n, line: cut, text: JSON.stringify(cut) }
}

type Mark = '_truncated' | '_length'

function isLength(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value > 0
}

/** Text that every database can store: without U+0000 and lone surrogates. */
export function storableText(text: string): string {
  return text.toWellFormed().replaceAll('\0', '�')
}

/**
 * Truncates the texts in a line with a smaller and smaller limit until it fits. A line with too many short
 * parts keeps only its type.
 */
function cutLine(line: StoredLine, length: number): StoredLine {
  const marks = { _truncated: true as const, _length: length }
  for (let allowed = 256 * 1024; allowed >= 1024; allowed /= 4) {
    const cut = { ...(shorten(line, allowed) as StoredLine), ...marks }
    if (Buffer.byteLength(JSON.stringify(cut)) <= maxLineBytes) return cut
  }
  return bare(line, marks)
}

/** Type, number and time without content, as readers expect of a truncated line. */
function bare(line: StoredLine, marks: { _truncated: true; _length: number }): StoredLine {
  const subtype = 'subtype' in line ? { subtype: line.subtype } : {}
  return { type: line.type, ...subtype, _n: line._n, _ts: line._ts, ...marks } as unknown as StoredLine
}

/** Returns null for a value nested too deeply to serialize. */
function jsonOf(value: unknown): string | null {
  try {
    return JSON.stringify(value)
  } catch {
    return null
  }
}

function shorten(value: unknown, allowed: number): unknown {
  if (typeof value === 'string') {
    // The slice may split a surrogate pair; toWellFormed replaces the lone half.
    return value.length > allowed ? value.slice(0, allowed).toWellFormed() : value
  }
  if (Array.isArray(value)) return value.map((item) => shorten(item, allowed))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, shorten(item, allowed)]))
}
