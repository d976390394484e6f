import { maxLineBytes } from '@roost/contracts/link/messages'
import type { TranscriptLine } from '@roost/contracts/link/transcript'
import { cutToBytes, mapStrings } from '../kit/text.ts'

/** A spooled line: its time of arrival, and marks if parts of it are missing. */
export type SpooledLine = TranscriptLine & { _ts: string; _truncated?: true; _length?: number }

/** A line with its JSON text and the size of that text in UTF-8. */
export type EncodedLine = { line: SpooledLine; text: string; bytes: number }

/**
 * Prepares a line for the spool: adds its time, limits it to 1 MiB and replaces lone surrogates, which
 * databases reject. A truncated line is marked `_truncated` and has its original length in bytes.
 */
export function toSpooledLine(
  line: TranscriptLine,
  timestamp: string,
  sourceBytes: number | null,
): EncodedLine {
  const plain: SpooledLine = { ...line, _ts: timestamp, ...(sourceBytes ? marks(sourceBytes) : {}) }
  let text = JSON.stringify(plain)
  let result = plain
  // JSON.stringify escapes lone surrogates, and only these, as `\ud…`.
  if (text.includes('\\ud')) {
    // Only strings change, so the shape stays.
    result = mapStrings(plain, (string) => string.toWellFormed()) as SpooledLine
    text = JSON.stringify(result)
  }
  const length = Buffer.byteLength(text)
  let bytes = length
  for (let limit = maxLineBytes / 2; bytes > maxLineBytes && limit >= 64; limit /= 4) {
    const cut = mapStrings(line, (string) => cutToBytes(string.toWellFormed(), Math.floor(limit)))
    result = { ...(cut as TranscriptLine), _ts: timestamp, ...marks(sourceBytes ?? length) }
    text = JSON.stringify(result)
    bytes = Buffer.byteLength(text)
  }
  if (bytes <= maxLineBytes) return { line: result, text, bytes }
  // With too many small strings truncation does not help; only the type of the line is kept.
  const notice: SpooledLine = {
    type: 'system',
    subtype: 'notice',
    level: 'warning',
    message: `A line of type ${line.type} was too large to store.`,
    _ts: timestamp,
    ...marks(sourceBytes ?? length),
  }
  text = JSON.stringify(notice)
  return { line: notice, text, bytes: Buffer.byteLength(text) }
}

function marks(length: number): { _truncated: true; _length: number } {
  return { _truncated: true, _length: length }
}
