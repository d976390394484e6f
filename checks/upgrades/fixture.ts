/** A committed fixture of a release, restored into a temporary data folder and database. */
import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { gunzipSync } from 'node:zlib'
import { freePort } from '../../cli/src/machine/free-port.ts'
import type { Answer } from './answers.ts'
import type { Driven } from './drive.ts'

const run = promisify(execFile)
export const repository = join(import.meta.dirname, '../..')
export type Dialect = 'sqlite' | 'postgres'

export type Facts = Omit<Driven, 'tokens'> & {
  version: string
  /** Time at which the release was killed. */
  taken_at: string
  encryptionKey: string
  installId: string
  agentKeys: Record<string, string>
  answers: Answer[]
}

export type Fixture = AsyncDisposable & {
  facts: Facts
  folder: string
  url: string
  internalPort: number
  databaseUrl: string
  mailFolder: string
  /** The environment of the platform's processes. */
  env: Record<string, string>
  /** The time a few seconds after the release was killed. */
  at: Date
  /** Unpacks the agent program of the release, and returns its folder. */
  agentProgram(): Promise<string>
}

export async function restoreFixture(version: string, dialect: Dialect): Promise<Fixture> {
  const source = join(import.meta.dirname, version)
  const unpacked = async (name: string) => gunzipSync(await readFile(join(source, name)))
  const facts = JSON.parse(String(await unpacked(`${dialect}.json.gz`))) as Facts
  const folder = await mkdtemp(join(tmpdir(), 'roost-upgrade-'))
  // The agent program runs as another user.
  await chmod(folder, 0o755)
  const dataDir = join(folder, 'data')
  await mkdir(dataDir, { mode: 0o700 })
  await writeFile(join(dataDir, 'encryption.key'), facts.encryptionKey, { mode: 0o600 })
  await writeFile(join(dataDir, 'install-id'), facts.installId)
  let databaseUrl = `sqlite:${join(dataDir, 'roost.db')}`
  let drop = async () => {}
  if (dialect === 'sqlite') await writeFile(join(dataDir, 'roost.db'), await unpacked('sqlite.db.gz'))
  else {
    const server = process.env.ROOST_TEST_POSTGRES_URL ?? ''
    const name = `roost_upgrade_${randomBytes(6).toString('hex')}`
    await psql(server, '-c', `create database ${name}`)
    drop = () => psql(server, '-c', `drop database ${name} with (force)`)
    databaseUrl = Object.assign(new URL(server), { pathname: `/${name}` }).href
    const dump = join(folder, 'dump.sql')
    await writeFile(dump, await unpacked('postgres.sql.gz'))
    await psql(databaseUrl, '-f', dump)
  }
  const [port, internalPort] = [await freePort(), await freePort()]
  const mailFolder = join(folder, 'mail')
  return {
    facts,
    folder,
    internalPort,
    databaseUrl,
    mailFolder,
    url: `http://127.0.0.1:${port}`,
    at: new Date(Date.parse(facts.taken_at) + 5_000),
    env: {
      ROOST_DATA_DIR: dataDir,
      ROOST_PORT: String(port),
      ROOST_INTERNAL_PORT: String(internalPort),
      ROOST_BASE_URL: 'http://localhost:8000',
      ROOST_CONTAINERS_URL: 'fake:',
      ROOST_MAIL_URL: `file:${mailFolder}`,
      ROOST_LOG_LEVEL: 'warn',
      ROOST_DATABASE_URL: databaseUrl,
    },
    async agentProgram() {
      const target = join(folder, 'program')
      await mkdir(target)
      await writeFile(join(folder, 'agent.tar'), await unpacked('agent.tar.gz'))
      await run('tar', ['-x', '--no-same-owner', '-f', join(folder, 'agent.tar'), '-C', target])
      await run('chmod', ['-R', 'a+rX', target])
      return target
    },
    async [Symbol.asyncDispose]() {
      await drop()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

async function psql(url: string, ...args: string[]): Promise<void> {
  await run('psql', ['-q', '-v', 'ON_ERROR_STOP=1', ...args, url])
}
