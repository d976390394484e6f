import { chmodSync, existsSync, mkdirSync, renameSync, rmSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { CopyError, type DatabaseCopies } from './port.ts'

/** Copies the file of `sqlite:<path>`. */
export function sqliteCopies(path: string): DatabaseCopies {
  const isPresent = () => existsSync(path) && statSync(path).size > 0

  async function refuseFull(): Promise<void> {
    if (isPresent())
      throw new CopyError(`The database ${path} already exists. Restore into another data folder.`)
  }
  return {
    dialect: 'sqlite',
    async copyTo(file) {
      if (!isPresent()) throw new CopyError(`The database ${path} does not exist.`)
      const source = new DatabaseSync(path, { readOnly: true, timeout: 30_000 })
      try {
        // One statement reads one consistent state and blocks no writer.
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
      // Remains of an earlier database do not belong to this one.
      for (const rest of ['-wal', '-shm']) rmSync(path + rest, { force: true })
      renameSync(file, path)
    },
  }
}

/** Checks the copy now, because a broken one would be noticed only when needed. */
function refuseBroken(file: string): void {
  const copy = new DatabaseSync(file, { readOnly: true })
  try {
    const found = copy.prepare('pragma integrity_check').get()
    if (found?.integrity_check !== 'ok') throw new CopyError('The copy of the database is damaged.')
  } finally {
    copy.close()
  }
}
