import { appendFileSync, mkdirSync, renameSync, statSync } from 'node:fs'
import { dirname } from 'node:path'

export type LogFile = { readonly path: string; write(text: string): void }

export type LogFileOptions = {
  maxBytes?: number
  /** Hears why nothing can be written, once until it can be again. */
  onTrouble?: (error: unknown) => void
}

const kept = 3

/**
 * A log that keeps its last `kept` parts of at most `maxBytes` each: `api.log`, `api.log.1`, … What cannot be
 * written, to a full disk say, is left out and counted: a log is no reason for the platform to stop.
 */
export function openLogFile(path: string, options: LogFileOptions = {}): LogFile {
  const { maxBytes = 10 * 1024 * 1024, onTrouble = () => {} } = options
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  let size = statSync(path, { throwIfNoEntry: false })?.size ?? 0
  let lostBytes = 0

  function append(text: string): void {
    const bytes = Buffer.byteLength(text)
    if (size > 0 && size + bytes > maxBytes) {
      turnOver()
      size = 0
    }
    appendFileSync(path, text, { mode: 0o600 })
    size += bytes
  }

  function turnOver(): void {
    for (let part = kept - 1; part >= 1; part -= 1) {
      const older = part === 1 ? path : `${path}.${part - 1}`
      if (statSync(older, { throwIfNoEntry: false })) renameSync(older, `${path}.${part}`)
    }
  }

  return {
    path,
    write(text) {
      try {
        // A line of its own: what failed may have been written in part.
        const gap = lostBytes > 0 ? `\n${gapLine(lostBytes)}\n` : ''
        append(gap + text)
        lostBytes = 0
      } catch (error) {
        if (lostBytes === 0) onTrouble(error)
        lostBytes += Buffer.byteLength(text)
      }
    },
  }
}

/** In the form of the platform's own lines. */
function gapLine(bytes: number): string {
  const time = new Date().toISOString()
  return JSON.stringify({ level: 'warn', time, lost_bytes: bytes, msg: 'this log could not be written' })
}
