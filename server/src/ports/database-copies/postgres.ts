import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync } from 'node:fs'
import { text } from 'node:stream/consumers'
import { CopyError, type DatabaseCopies } from './port.ts'

/** Uses PostgreSQL's client programs, found in `path`. */
export function postgresCopies(url: string, path: string): DatabaseCopies {
  const { password } = new URL(url)
  /** The password is passed in the environment, because other users can read arguments. */
  const bare = new URL(url)
  bare.password = ''

  async function run(program: string, args: string[]): Promise<string> {
    // Passes none of the platform's own environment, which contains its keys.
    const env = { PATH: path, ...(password ? { PGPASSWORD: decodeURIComponent(password) } : {}) }
    const child = spawn(program, [...args, `--dbname=${bare.href}`], {
      env,
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    const failed = once(child, 'error').then(([error]: unknown[]) => {
      throw new CopyError(`${program} is needed and cannot be started: install the clients of PostgreSQL.`, {
        cause: error,
      })
    })
    const ended = Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')])
    const [out, err, [code]] = await Promise.race([ended, failed])
    if (code !== 0) throw new CopyError(`${program}: ${err.trim().split('\n')[0] ?? `ended with ${code}`}`)
    return out
  }

  async function refuseFull(): Promise<void> {
    const count = "select count(*) from information_schema.tables where table_schema = 'public'"
    const found = await run('psql', ['--no-psqlrc', '--tuples-only', '--no-align', '--command', count])
    if (found.trim() !== '0') throw new CopyError('The database is not empty: restore into an empty one.')
  }
  return {
    dialect: 'postgres',
    async copyTo(file) {
      closeSync(openSync(file, 'wx', 0o600))
      await run('pg_dump', ['--format=custom', '--no-owner', '--no-privileges', `--file=${file}`])
    },
    refuseFull,
    async restoreFrom(file) {
      await refuseFull()
      const options = ['--single-transaction', '--exit-on-error', '--no-owner', '--no-privileges']
      await run('pg_restore', [...options, file])
    },
  }
}
