import { lstat, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { memoize } from '../kit/memoize.ts'
import {
  makePrivateFolder,
  type PrivateFolder,
  removePrivateFolder,
  runAs,
} from '../principals/private-folder.ts'
import type { Identities, ProcessUser } from '../processes/identity.ts'

/** A folder for one process, outside the workspace; call `remove` after the process has ended. */
export type Scratch = PrivateFolder & {
  /** A folder that only this program can enter, on the same file system. */
  closed: string
  remove(): Promise<void>
}

export type Scratches = {
  make(user: ProcessUser): Promise<Scratch>
  /** Deletes the folders of an earlier process of this program. */
  clear(): Promise<void>
}

/** `root` is a folder in which everybody may create entries, but not rename those of others. */
export function createScratches(root: string, identities: Identities): Scratches {
  const parent = join(root, 'roost-turns')
  const closed = join(parent, 'closed')

  /** Created by this program's own user, because `developer` may rename and open its folders at any time. */
  const prepare = memoize(async () => {
    const { program } = identities
    for (const { path, mode } of [
      { path: parent, mode: '0771' },
      { path: closed, mode: '0770' },
    ]) {
      await runAs(program, '/bin/mkdir', ['-m', mode, path], identities)
      const found = await lstat(path)
      if (!found.isDirectory() || found.uid !== program.uid)
        throw new Error(`${path} belongs to another user.`)
    }
  })

  return {
    async make(user) {
      await prepare()
      const folder = await makePrivateFolder({ closed, parent }, user, identities)
      return {
        ...folder,
        closed,
        remove: () => removePrivateFolder(folder.path, identities).catch(() => {}),
      }
    },
    async clear() {
      await prepare()
      for (const name of await readdir(closed)) await rm(join(closed, name), { recursive: true, force: true })
      const left = (await readdir(parent)).map((name) => join(parent, name)).filter((path) => path !== closed)
      await Promise.all(left.map((path) => removePrivateFolder(path, identities)))
    },
  }
}
