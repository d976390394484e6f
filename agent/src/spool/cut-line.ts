import { maxLineBytes } from '@roost/contracts/link/messages'
import type { TranscriptLine } from '@roost/contracts/link/transcript'
import { cutToBytes, mapStrings } from '../kit/text.ts'

/** A line as it is spooled and sent: the time it came, and whether something of it is missing. */
export type SpooledLine = TranscriptLine & { _ts: string; _truncated?: true; _length?: number }

/** A line with its JSON and the size of that in UTF-8. */
export type MadeLine = { line: SpooledLine; text: string; bytes: number }

/**
 * Makes a line ready for the spool: with its time, at most 1 MiB, and without lone surrogates, which no
 * database takes. What is cut is marked `_truncated`, with the length in bytes that the line had.
 */
export function toSpooledLine(line: TranscriptLine, timestamp: string, sourceBytes: number | null): MadeLine {
  const plain: SpooledLine = { ...line, _ts: timestamp, ...(sourceBytes ? marks(sourceBytes) : {}) }
  let text = JSON.stringify(plain)
  let result = plain
  // JSON.stringify writes a lone surrogate, and nothing else, as an escape that begins with d.
  if (text.includes('\\ud')) {
    // Every string of a line is replaced by a string: the shape stays.
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
  // So many small strings that cutting each does not help: only the kind of the line is kept.
  const notice: SpooledLine = {
    type: 'system',
    subtype: 'notice',
    level: 'warning',
    message: `A line of type ${line.type} was too large to keep.`,
    _ts: timestamp,
    ...marks(sourceBytes ?? length),
  }
  text = JSON.stringify(notice)
  return { line: notice, text, bytes: Buffer.byteLength(text) }
}

function marks(length: number): { _truncated: true; _length: number } {
  return { _truncated: true, _length: length }
}
