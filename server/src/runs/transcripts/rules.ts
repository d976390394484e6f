import { maxLineBytes } from '@roost/contracts/link/messages'
import type { StoredLine, TranscriptLine } from '@roost/contracts/link/transcript'
import { maskJson } from '../../kit/mask-secrets.ts'

/** A line as it is kept: its JSON text, and the line itself for whoever reads along. */
export type KeptLine = { n: number; line: StoredLine; text: string }

/**
 * Gives a line its number and time, blots out the known secrets, and cuts it to `maxLineBytes`. Whatever
 * the agent put under `_n` and the like is replaced, but for the length of a line that it has cut itself:
 * nobody else has seen the whole of it.
 */
export function keepLine(line: TranscriptLine, n: number, at: string, secrets: readonly string[]): KeptLine {
  const { _truncated, _length, ...plain } = line as TranscriptLine & Partial<Record<Mark, unknown>>
  const cutBefore = _truncated === true && isLength(_length) ? _length : null
  const marks = cutBefore === null ? {} : { _truncated: true as const, _length: cutBefore }
  // The marks last, so that they win over fields of the same names in what came.
  const numbered = { ...plain, ...marks, _n: n, _ts: at } as StoredLine
  const whole = jsonOf(numbered)
  const written = whole === null ? bare(numbered, { _truncated: true, _length: 0 }) : numbered
  const raw = whole ?? JSON.stringify(written)
  const text = maskJson(raw, secrets)
  const masked = text === raw ? written : (JSON.parse(text) as StoredLine)
  const length = Buffer.byteLength(text)
  if (length <= maxLineBytes) return { n, line: masked, text }
  const cut = cutLine(masked, Math.max(length, cutBefore ?? 0))
  return { n, line: cut, text: JSON.stringify(cut) }
}

type Mark = '_truncated' | '_length'

function isLength(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value > 0
}

/** Text as every database keeps it: without U+0000 and lone surrogates. */
export function storableText(text: string): string {
  return text.toWellFormed().replaceAll('\0', '�')
}

/**
 * Shortens the texts inside a line, the longest first by halving what is allowed, until it fits. A line of
 * very many short parts keeps its type only.
 */
function cutLine(line: StoredLine, length: number): StoredLine {
  const marks = { _truncated: true as const, _length: length }
  for (let allowed = 256 * 1024; allowed >= 1024; allowed /= 4) {
    const cut = { ...(shorten(line, allowed) as StoredLine), ...marks }
    if (Buffer.byteLength(JSON.stringify(cut)) <= maxLineBytes) return cut
  }
  return bare(line, marks)
}

/** Type, number and time, and none of the content: readers of a line that is marked as cut expect it. */
function bare(line: StoredLine, marks: { _truncated: true; _length: number }): StoredLine {
  const subtype = 'subtype' in line ? { subtype: line.subtype } : {}
  return { type: line.type, ...subtype, _n: line._n, _ts: line._ts, ...marks } as unknown as StoredLine
}

/** Null for a value that is nested deeper than can be written. */
function jsonOf(value: unknown): string | null {
  try {
    return JSON.stringify(value)
  } catch {
    return null
  }
}

function shorten(value: unknown, allowed: number): unknown {
  if (typeof value === 'string') {
    // A cut between two halves of a character leaves a half; toWellFormed replaces it.
    return value.length > allowed ? value.slice(0, allowed).toWellFormed() : value
  }
  if (Array.isArray(value)) return value.map((item) => shorten(item, allowed))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, shorten(item, allowed)]))
}
