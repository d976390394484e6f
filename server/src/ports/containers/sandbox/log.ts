import { closeSync, fstatSync, openSync, renameSync, writeSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { join } from 'node:path'
import { containerFiles } from './folders.ts'

export type LogWriter = { write(chunk: Buffer): void; close(): void }

/** Appends to `log`. A full file becomes `log.1`, that one `log.2`; the last of `files` is deleted. */
export function openLog(folder: string, caps: { maxBytes: number; files: number }): LogWriter {
  const path = join(folder, containerFiles.log)
  const openNow = () => openSync(path, 'a', 0o600)
  let file = openNow()
  let size = fstatSync(file).size
  return {
    write(chunk) {
      if (size > 0 && size + chunk.length > caps.maxBytes) {
        closeSync(file)
        for (let number = caps.files - 1; number >= 1; number -= 1) {
          moveIfPresent(number === 1 ? path : `${path}.${number - 1}`, `${path}.${number}`)
        }
        file = openNow()
        size = 0
      }
      for (let at = 0; at < chunk.length; ) at += writeSync(file, chunk, at)
      size += chunk.length
    },
    close: () => closeSync(file),
  }
}

/** Returns the last `lines` lines over all files, read backwards in blocks. */
export async function tailLog(folder: string, lines: number, files: number): Promise<string> {
  const path = join(folder, containerFiles.log)
  const blocks: Buffer[] = []
  let breaks = 0
  for (let number = 0; number < files && breaks <= lines; number += 1) {
    const file = await open(number === 0 ? path : `${path}.${number}`, 'r').catch(() => null)
    if (!file) break
    try {
      for (let end = (await file.stat()).size; end > 0 && breaks <= lines; ) {
        const block = Buffer.alloc(Math.min(end, 64 * 1024))
        const { bytesRead } = await file.read(block, 0, block.length, end - block.length)
        blocks.unshift(block.subarray(0, bytesRead))
        breaks += countBreaks(block)
        end -= block.length
      }
    } finally {
      await file.close()
    }
  }
  const all = Buffer.concat(blocks).toString('utf8').split('\n')
  const endsWithBreak = all.at(-1) === ''
  return all.slice(-lines - (endsWithBreak ? 1 : 0)).join('\n')
}

function countBreaks(block: Buffer): number {
  let count = 0
  for (let at = block.indexOf(10); at !== -1; at = block.indexOf(10, at + 1)) count += 1
  return count
}

function moveIfPresent(from: string, to: string): void {
  try {
    renameSync(from, to)
  } catch {
    // The log has fewer files so far.
  }
}
