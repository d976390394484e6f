import { createWriteStream } from 'node:fs'
import { rename, rm, stat } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import type { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { CommandFailed } from './exit.ts'

/** Writes the whole file, or leaves what was there before. Returns the number of bytes. */
export async function saveFile(body: Readable, to: string): Promise<number> {
  const found = await stat(to).catch(() => null)
  if (found?.isDirectory()) throw new CommandFailed(`${to} is a folder.`)
  const part = join(dirname(to), `.${basename(to).slice(0, 200)}.${process.pid}.part`)
  const output = createWriteStream(part, { flags: 'wx', ...(found ? { mode: found.mode & 0o777 } : {}) })
  try {
    await pipeline(body, output)
    await rename(part, to)
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST'))
      await rm(part, { force: true })
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT')
      throw new CommandFailed(`The folder ${dirname(to)} does not exist.`)
    throw error
  }
  return output.bytesWritten
}
