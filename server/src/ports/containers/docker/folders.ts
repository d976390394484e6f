import { createReadStream } from 'node:fs'
import { lstat, readdir, readlink } from 'node:fs/promises'
import { join } from 'node:path'
import { pipeline as connect, PassThrough, type Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type Docker from 'dockerode'
import { type Pack, pack } from 'tar-stream'
import { ContainerError, type Mount } from '../port.ts'
import { type Ask, withoutQuery } from './connect.ts'

export type CopiedFolder = Extract<Mount, { type: 'folder' }>

/** Throws `engine_fault` for a folder that does not exist. */
export async function requireFolders(folders: readonly CopiedFolder[]): Promise<void> {
  for (const { source } of folders) {
    const found = await lstat(source).catch(() => null)
    if (!found?.isDirectory())
      throw new ContainerError('engine_fault', `${source} is not a folder of this machine`)
  }
}

/**
 * Copies folders into a container that has not started yet. A bind mount would need the engine to see the platform's
 * files, which it does not when the platform runs in a container or on another machine.
 */
export async function copyFolders(
  { docker, ask }: { docker: Docker; ask: Ask },
  id: string,
  folders: readonly CopiedFolder[],
): Promise<void> {
  if (folders.length === 0) return
  const archive = packFolders(folders)
  const failed = new AbortController()
  const unreadable = new Promise<never>((_, reject) => {
    archive.once('error', (error: Error) => {
      failed.abort()
      reject(new ContainerError('engine_fault', `the files for ${id} cannot be read: ${error.message}`))
    })
  })
  try {
    await ask(
      `copy files into ${id}`,
      (abortSignal) => {
        const signal = AbortSignal.any([abortSignal, failed.signal])
        const sent = docker
          .getContainer(id)
          .putArchive(archive, withoutQuery({}, signal, { path: '/' }) as never)
        return Promise.race([sent, unreadable])
      },
      { extraSeconds: 60 },
    )
  } finally {
    archive.destroy()
  }
}

/** An archive to unpack at `/`. Everything in it belongs to root, so that the agent's user cannot change it. */
export function packFolders(folders: readonly CopiedFolder[]): Readable {
  const archive = pack()
  const output = new PassThrough()
  connect(archive, output, () => {})
  const write = async () => {
    for (const { source, target } of folders) await addFolder(archive, source, target.replace(/^\/+/, ''))
    archive.finalize()
  }
  write().catch((error: Error) => archive.destroy(error))
  return output
}

async function addFolder(archive: Pack, folder: string, name: string): Promise<void> {
  const { mode, mtime } = await lstat(folder)
  archive.entry({ ...owner, name, type: 'directory', mode: readable(mode), mtime })
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    const [path, inside] = [join(folder, entry.name), `${name}/${entry.name}`]
    if (entry.isDirectory()) await addFolder(archive, path, inside)
    else if (entry.isSymbolicLink())
      archive.entry({ ...owner, name: inside, type: 'symlink', mode: 0o777, linkname: await readlink(path) })
    else if (entry.isFile()) {
      const { mode, mtime, size } = await lstat(path)
      const header = { ...owner, name: inside, size, mode: readable(mode), mtime }
      await pipeline(createReadStream(path), archive.entry(header))
    }
  }
}

const owner = { uid: 0, gid: 0 }
/** Without write permission for others and without set-user bits. */
const readable = (mode: number) => mode & 0o755
