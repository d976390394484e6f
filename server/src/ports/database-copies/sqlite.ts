import {
  chmodSync,
  closeSync,
  copyFileSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs'
import { dirname } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { CopyError, type DatabaseCopies } from './port.ts'

/** Files beside a database that belong to it. */
const logs = ['-wal', '-shm', '-journal']

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
    async countRows(file) {
      const copy = new DatabaseSync(file, { readOnly: true })
      try {
        const query = "select name from sqlite_schema where type = 'table' and name not like 'sqlite_%'"
        const tables = copy.prepare(query).all() as { name: string }[]
        return Object.fromEntries(
          tables.map(({ name }) => {
            const row = copy.prepare(`select count(*) as rows from "${name.replaceAll('"', '""')}"`).get()
            return [name, Number(row?.rows)]
          }),
        )
      } finally {
        copy.close()
      }
    },
    refuseFull,
    async restoreFrom(file) {
      await refuseFull()
      refuseBroken(file)
      mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
      // Remains of an earlier database do not belong to this one.
      for (const rest of logs) rmSync(path + rest, { force: true })
      renameSync(file, path)
    },
    async verify(file) {
      refuseBroken(file)
    },
    async replaceWith(file) {
      refuseBroken(file)
      const draft = `${path}.replacement`
      try {
        copyFileSync(file, draft)
        chmodSync(draft, 0o600)
        flush(draft)
        if (isPresent()) foldLog(path)
        // SQLite would apply the log of a database that was deleted to the new one.
        else for (const rest of logs) rmSync(path + rest, { force: true })
      } catch (error) {
        // On a full disk it would take the space that a repetition needs.
        rmSync(draft, { force: true })
        throw error
      }
      // Without a write-ahead log of the old database, this one step replaces everything.
      renameSync(draft, path)
      flush(dirname(path))
    },
    async sizeBound() {
      return [path, `${path}-wal`].reduce(
        (sum, file) => sum + (statSync(file, { throwIfNoEntry: false })?.size ?? 0),
        0,
      )
    },
  }
}

/** Writes the log into the database and removes it. Throws `CopyError` while the database is in use. */
function foldLog(path: string): void {
  const database = new DatabaseSync(path, { timeout: 2_000 })
  try {
    database.exec('pragma journal_mode = delete')
  } catch (cause) {
    throw new CopyError(`The database ${path} is in use. Stop the platform first.`, { cause })
  } finally {
    database.close()
  }
}

function flush(path: string): void {
  const descriptor = openSync(path, 'r')
  try {
    fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
}

/** Checks the copy now, because a broken one would be noticed only when needed. */
function refuseBroken(file: string): void {
  const copy = new DatabaseSync(file, { readOnly: true })
  try {
    const found = copy.prepare('pragma integrity_check').get()
    if (found?.integrity_check !== 'ok') throw new CopyError('The copy of the database is damaged.')
  } catch (cause) {
    throw cause instanceof CopyError
      ? cause
      : new CopyError('The copy of the database is damaged.', { cause })
  } finally {
    copy.close()
  }
}
