import { appendFileSync, mkdirSync, renameSync, statSync } from 'node:fs'
import { dirname } from 'node:path'

export type LogFile = { readonly path: string; write(text: string): void }

export type LogFileOptions = {
  maxBytes?: number
  /** Called with a write error, once until a write succeeds again. */
  onTrouble?: (error: unknown) => void
}

const keptFiles = 3

/**
 * Opens a log that keeps its last `keptFiles` files of at most `maxBytes` each: `api.log`, `api.log.1`, … Text that
 * cannot be written, for example to a full disk, is dropped and counted, so that a log never stops the platform.
 */
export function openLogFile(path: string, options: LogFileOptions = {}): LogFile {
  const { maxBytes = 10 * 1024 * 1024, onTrouble = () => {} } = options
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  let size = statSync(path, { throwIfNoEntry: false })?.size ?? 0
  let lostBytes = 0

  function append(text: string): void {
    const bytes = Buffer.byteLength(text)
    if (size > 0 && size + bytes > maxBytes) {
      rotate()
      size = 0
    }
    appendFileSync(path, text, { mode: 0o600 })
    size += bytes
  }

  function rotate(): void {
    for (let number = keptFiles - 1; number >= 1; number -= 1) {
      const older = number === 1 ? path : `${path}.${number - 1}`
      if (statSync(older, { throwIfNoEntry: false })) renameSync(older, `${path}.${number}`)
    }
  }

  return {
    path,
    write(text) {
      try {
        // Starts on a new line, because the failed write may have been partial.
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

/** A log line in the format of the platform's own. */
function gapLine(bytes: number): string {
  const time = new Date().toISOString()
  return JSON.stringify({ level: 'warn', time, lost_bytes: bytes, msg: 'this log could not be written' })
}
