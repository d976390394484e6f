import { closeSync, openSync, readdirSync, readFileSync, rmSync, truncateSync, writeSync } from 'node:fs'
import { join } from 'node:path'

/**
 * Stores numbered lines in files of about 1 MiB, each named by its first line number. Committed files are
 * deleted one by one. The newest file stays, because it holds the last number.
 */
export type Segments = {
  /** Appends complete lines including newlines; throws when writing fails. */
  append(text: string, lines: number): void
  /** Returns lines from number `from` to the end of its file; empty when not stored here. */
  readFrom(from: number): string[]
  /** Deletes files without lines above `number`. */
  dropThrough(number: number): void
  /** Numbers of the first and last stored line; 0 for none. */
  first(): number
  last(): number
  bytes(): number
  close(): void
}

const segmentBytes = 1024 * 1024
const suffix = '.ndjson'

type Segment = { first: number; count: number; bytes: number; path: string }

/** Opens the files in `directory`. Removes a line that was incomplete when the program died. */
export function openSegments(directory: string): Segments {
  const segments = readdirSync(directory)
    .filter((name) => name.endsWith(suffix))
    .sort()
    .map((name) => scan(directory, name))
  let file: number | null = null

  function newest(): Segment | null {
    return segments.at(-1) ?? null
  }

  function lastNumber(): number {
    const segment = newest()
    return segment ? segment.first + segment.count - 1 : 0
  }

  /** Forgets the descriptor first: after a fault, its number may belong to another file. */
  function close(): void {
    const open = file
    file = null
    if (open !== null) closeSync(open)
  }

  function current(): { segment: Segment; file: number } {
    const open = newest()
    if (open && file !== null && open.bytes < segmentBytes) return { segment: open, file }
    close()
    const first = lastNumber() + 1
    const path = join(directory, `${String(first).padStart(10, '0')}${suffix}`)
    file = openSync(path, 'a', 0o600)
    const segment = { first, count: 0, bytes: 0, path }
    segments.push(segment)
    return { segment, file }
  }

  return {
    append(text, lines) {
      const { segment, file } = current()
      const bytes = Buffer.from(text, 'utf8')
      try {
        for (let written = 0; written < bytes.length; ) written += writeSync(file, bytes, written)
      } catch (error) {
        truncateSync(segment.path, segment.bytes)
        throw error
      }
      segment.count += lines
      segment.bytes += bytes.length
    },
    readFrom(from) {
      const segment = segments.find(({ first, count }) => from >= first && from < first + count)
      if (!segment) return []
      return linesOf(readFileSync(segment.path, 'utf8')).slice(from - segment.first)
    },
    dropThrough(number) {
      for (
        let oldest = segments[0];
        oldest && segments.length > 1 && oldest.first + oldest.count - 1 <= number;
        oldest = segments[0]
      ) {
        rmSync(oldest.path, { force: true })
        segments.shift()
      }
    },
    first: () => segments[0]?.first ?? 0,
    last: lastNumber,
    bytes: () => segments.reduce((sum, { bytes }) => sum + bytes, 0),
    close,
  }
}

function scan(directory: string, name: string): Segment {
  const path = join(directory, name)
  const text = readFileSync(path)
  const completeBytes = text.lastIndexOf(0x0a) + 1
  if (completeBytes < text.length) truncateSync(path, completeBytes)
  let count = 0
  for (let at = text.indexOf(0x0a); at !== -1; at = text.indexOf(0x0a, at + 1)) count += 1
  return { first: Number(name.slice(0, -suffix.length)), count, bytes: completeBytes, path }
}

function linesOf(text: string): string[] {
  const lines = text.split('\n')
  lines.pop()
  return lines
}
