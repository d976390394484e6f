import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { text } from 'node:stream/consumers'
import { CopyError, type DatabaseCopies } from './port.ts'

/** Uses PostgreSQL's client programs, found in `path`. */
export function postgresCopies(url: string, path: string): DatabaseCopies {
  const { password } = new URL(url)
  /** The password is passed in the environment, because other users can read arguments. */
  const bare = new URL(url)
  bare.password = ''

  async function run(program: string, args: string[], on = [`--dbname=${bare.href}`]): Promise<string> {
    // Passes none of the platform's own environment, which contains its keys.
    const env = { PATH: path, ...(password ? { PGPASSWORD: decodeURIComponent(password) } : {}) }
    const child = spawn(program, [...args, ...on], {
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
    async countRows(file) {
      const child = spawn('pg_restore', ['--data-only', '--file=-', file], {
        env: { PATH: path },
        stdio: ['ignore', 'pipe', 'ignore'],
      })
      const closed = once(child, 'close').catch((error: unknown) => {
        throw new CopyError('pg_restore is needed and cannot be started.', { cause: error })
      })
      const counts: Record<string, number> = {}
      // Bytes as characters: some characters of Unicode would count as line ends.
      child.stdout.setEncoding('latin1')
      let table: string | null = null
      for await (const line of createInterface({ input: child.stdout, crlfDelay: 0 })) {
        const start: string | undefined =
          table === null ? /^COPY (?:public\.)?"?(\w+)"? \(/.exec(line)?.[1] : undefined
        if (start !== undefined) {
          table = start
          counts[table] = 0
        } else if (line === '\\.') table = null
        else if (table !== null) counts[table] = (counts[table] ?? 0) + 1
      }
      const [code] = await closed
      if (code !== 0) throw new CopyError('The copy of the database is damaged.')
      return counts
    },
    refuseFull,
    async restoreFrom(file) {
      await refuseFull()
      const options = ['--single-transaction', '--exit-on-error', '--no-owner', '--no-privileges']
      await run('pg_restore', [...options, file])
    },
    async verify(file) {
      // Writes the statements nowhere, which reads and unpacks all data.
      await run('pg_restore', ['--file=/dev/null', file], [])
    },
    async replaceWith(file) {
      const folder = await mkdtemp(join(dirname(file), '.statements-'))
      try {
        const statements = join(folder, 'statements.sql')
        closeSync(openSync(statements, 'wx', 0o600))
        await run('pg_restore', ['--no-owner', '--no-privileges', `--file=${statements}`, file], [])
        const options = ['--no-psqlrc', '--quiet', '--single-transaction', '--set=ON_ERROR_STOP=1']
        const limits = 'set statement_timeout = 0; set lock_timeout = 10000'
        await run('psql', [
          ...[...options, '--output=/dev/null'],
          ...['--command', limits, '--command', dropEverything, '--file', statements],
        ])
      } finally {
        await rm(folder, { recursive: true, force: true })
      }
    },
    async sizeBound() {
      const size = 'select pg_database_size(current_database())'
      return Number(await run('psql', ['--no-psqlrc', '--tuples-only', '--no-align', '--command', size]))
    },
  }
}

/** Drops what the platform creates, and not the schema, which may belong to another role. */
const dropEverything = `do $$
declare found record;
begin
  for found in select tablename from pg_tables where schemaname = 'public' loop
    execute format('drop table public.%I cascade', found.tablename);
  end loop;
  for found in select sequencename from pg_sequences where schemaname = 'public' loop
    execute format('drop sequence public.%I cascade', found.sequencename);
  end loop;
  for found in select p.oid::regprocedure as name from pg_proc p
    where p.pronamespace = 'public'::regnamespace
    and not exists (select from pg_depend d where d.objid = p.oid and d.deptype = 'e') loop
    execute format('drop function %s cascade', found.name);
  end loop;
end $$`
