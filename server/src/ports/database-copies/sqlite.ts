import { chmodSync, existsSync, mkdirSync, renameSync, rmSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { CopyError, type DatabaseCopies } from './port.ts'

/** Of the file that `sqlite:<path>` names. */
export function sqliteCopies(path: string): DatabaseCopies {
  const isThere = () => existsSync(path) && statSync(path).size > 0

  async function refuseFull(): Promise<void> {
    if (isThere())
      throw new CopyError(`There is a database already: ${path}. Restore into another data folder.`)
  }
  return {
    dialect: 'sqlite',
    async copyTo(file) {
      if (!isThere()) throw new CopyError(`There is no database at ${path}.`)
      const source = new DatabaseSync(path, { readOnly: true, timeout: 30_000 })
      try {
        // One statement reads one state of the database, and keeps nobody from writing meanwhile.
        source.exec(`vacuum into '${file.replaceAll("'", "''")}'`)
      } finally {
        source.close()
      }
      chmodSync(file, 0o600)
      refuseBroken(file)
    },
    refuseFull,
    async restoreFrom(file) {
      await refuseFull()
      refuseBroken(file)
      mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
      // What an earlier database left beside it is not this one's.
      for (const rest of ['-wal', '-shm']) rmSync(path + rest, { force: true })
      renameSync(file, path)
    },
  }
}

/** A copy that cannot be read is none; better known now than on the day it is needed. */
function refuseBroken(file: string): void {
  const copy = new DatabaseSync(file, { readOnly: true })
  try {
    const found = copy.prepare('pragma integrity_check').get()
    if (found?.integrity_check !== 'ok') throw new CopyError('The copy of the database is damaged.')
  } finally {
    copy.close()
  }
}
