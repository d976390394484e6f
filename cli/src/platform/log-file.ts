import { appendFileSync, mkdirSync, renameSync, statSync } from 'node:fs'
import { dirname } from 'node:path'

export type LogFile = { readonly path: string; write(text: string): void }

const kept = 3

/** A log that keeps its last `kept` parts of at most `maxBytes` each: `api.log`, `api.log.1`, … */
export function openLogFile(path: string, maxBytes = 10 * 1024 * 1024): LogFile {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  let size = statSync(path, { throwIfNoEntry: false })?.size ?? 0
  return {
    path,
    write(text) {
      const bytes = Buffer.byteLength(text)
      if (size > 0 && size + bytes > maxBytes) {
        for (let part = kept - 1; part >= 1; part -= 1) {
          const older = part === 1 ? path : `${path}.${part - 1}`
          if (statSync(older, { throwIfNoEntry: false })) renameSync(older, `${path}.${part}`)
        }
        size = 0
      }
      appendFileSync(path, text, { mode: 0o600 })
      size += bytes
    },
  }
}
