/**
 * Makes the fixture of a release: `make-fixture.ts <folder of the release> <URL of a PostgreSQL server>`.
 * Drives the platform and the agent program of that release on both databases, and writes `<version>/`.
 */
import { execFile } from 'node:child_process'
import { chmod, cp, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { gzipSync } from 'node:zlib'
import { freePort } from '../../cli/src/machine/free-port.ts'
import { startGitServer } from '../../test-support/src/git/index.ts'
import { askWith, readAnswers } from './answers.ts'
import { drive } from './drive.ts'
import { type Running, startAgentProgram, startProcess } from './processes.ts'

const run = promisify(execFile)
/** Shortly before a full minute, so that a schedule fires early. */
const moment = new Date('2026-11-20T09:00:40.000Z')
const [release = '', server = ''] = process.argv.slice(2)
if (!release || !server)
  throw new Error('Usage: make-fixture.ts <folder of the release> <URL of a PostgreSQL server>')
const root = resolve(release)
const { version } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as { version: string }
const target = join(import.meta.dirname, version)

await mkdir(target, { recursive: true })
for (const dialect of ['sqlite', 'postgres'] as const) await make(dialect)
await packAgent()
console.log(`wrote ${target}: ${(await readdir(target)).join(', ')}`)

async function make(dialect: 'sqlite' | 'postgres'): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'roost-fixture-'))
  // The agent program runs as another user.
  await chmod(folder, 0o755)
  const dataDir = join(folder, 'data')
  const started = Date.now()
  const at = () => new Date(moment.getTime() + Date.now() - started)
  const database = `roost_fixture_${process.pid}`
  if (dialect === 'postgres') await psql(server, ['-c', `create database ${database}`])
  const databaseUrl =
    dialect === 'postgres' ? Object.assign(new URL(server), { pathname: `/${database}` }).href : ''
  const [port, internalPort] = [await freePort(), await freePort()]
  const url = `http://127.0.0.1:${port}`
  const env = {
    ROOST_DATA_DIR: dataDir,
    ROOST_PORT: String(port),
    ROOST_INTERNAL_PORT: String(internalPort),
    ROOST_BASE_URL: 'http://localhost:8000',
    ROOST_CONTAINERS_URL: 'fake:',
    ROOST_MAIL_URL: `file:${join(folder, 'mail')}`,
    ROOST_LOG_LEVEL: 'warn',
    ...(databaseUrl ? { ROOST_DATABASE_URL: databaseUrl } : {}),
  }
  await using git = await startGitServer()
  const skill = '---\nname: greet\ndescription: Greets people\n---\nSay hello.\n'
  await git.commit('acme/lib', { 'skills/greet/SKILL.md': skill })
  await git.tag('acme/lib', 'v1')
  const running: Running[] = []
  const agentKeys: Record<string, string> = {}
  try {
    const api = await startProcess('server/src/start/api.ts', {
      ...{ root, at: at() },
      env: { ...env, ROOST_GIT_BASE_URL: git.url },
    })
    running.push(api)
    const driven = await drive({
      url,
      mailFolder: join(folder, 'mail'),
      gitUrl: git.url,
      async startAgent(name) {
        const key = await agentKey(dataDir, databaseUrl, name)
        agentKeys[name] = key
        running.push(
          await startAgentProgram({
            ...{ root, at: at(), env: {}, name, key },
            folder: join(folder, name),
            linkUrl: `ws://127.0.0.1:${internalPort}/link`,
          }),
        )
        return key
      },
      async startScheduler() {
        running.push(await startProcess('server/src/start/scheduler.ts', { root, at: at(), env }))
      },
    })
    for (const name of driven.agents) agentKeys[name] ??= await agentKey(dataDir, databaseUrl, name)
    const document = JSON.parse(await readFile(join(root, 'docs/reference/openapi.json'), 'utf8'))
    const paths = Object.keys(document.paths).filter((path) => 'get' in document.paths[path])
    const callers = Object.keys(driven.tokens)
    const ask = askWith(url, driven.tokens)
    // A first visit can itself create rows, so that only the second one is repeatable.
    const visited = await readAnswers({ ask, paths, callers, ...driven })
    const answers = []
    for (const { who, path, status } of visited)
      if (status === 200) answers.push({ who, path, ...(await ask(who, path)) })
    // As in a crash: the runs in flight are still running and queued in the database.
    for (const each of running.splice(0).toReversed()) await each.end('SIGKILL')
    await saveDatabase(dialect, { folder, dataDir, databaseUrl })
    const { tokens: _, ...facts } = driven
    const encryptionKey = await readFile(join(dataDir, 'encryption.key'), 'utf8')
    const installId = await readFile(join(dataDir, 'install-id'), 'utf8')
    const saved = {
      version,
      taken_at: at().toISOString(),
      encryptionKey,
      installId,
      agentKeys,
      ...facts,
      answers,
    }
    await writeFile(join(target, `${dialect}.json.gz`), compressed(JSON.stringify(saved)))
    console.log(`${dialect}: ${answers.length} answers`)
  } finally {
    for (const each of running.toReversed()) await each.end('SIGKILL')
    if (databaseUrl) await psql(server, ['-c', `drop database ${database} with (force)`])
    await rm(folder, { recursive: true, force: true })
  }
}

/** Reads the key of an agent as the release stores it. */
async function agentKey(dataDir: string, databaseUrl: string, name: string): Promise<string> {
  const { openVault } = await import(join(root, 'server/src/foundation/vault/index.ts'))
  const { openDatabase } = await import(join(root, 'server/src/ports/database/open.ts'))
  const { silentLog } = await import(join(root, 'server/src/ports/log.ts'))
  const db = await openDatabase(databaseUrl || `sqlite:${join(dataDir, 'roost.db')}`, silentLog)
  try {
    const columns = ['id', 'agent_key_sealed']
    const row = await db
      .withTables()
      .selectFrom('agents')
      .select(columns)
      .where('name', '=', name)
      .executeTakeFirst()
    return openVault({ encryptionKey: null, dataDir }).open(row.agent_key_sealed, `agent-key:${row.id}`)
  } finally {
    await db.close()
  }
}

async function saveDatabase(
  dialect: 'sqlite' | 'postgres',
  { folder, dataDir, databaseUrl }: { folder: string; dataDir: string; databaseUrl: string },
): Promise<void> {
  if (dialect === 'sqlite') {
    const { DatabaseSync } = await import('node:sqlite')
    const db = new DatabaseSync(join(dataDir, 'roost.db'))
    db.exec(`vacuum into '${join(folder, 'copy.db')}'`)
    db.close()
    return writeFile(join(target, 'sqlite.db.gz'), compressed(await readFile(join(folder, 'copy.db'))))
  }
  const args = ['--no-owner', '--no-privileges', databaseUrl]
  const { stdout } = await run('pg_dump', args, { maxBuffer: 1 << 28 })
  // Newer versions add a random key in these lines, which older ones cannot read.
  const dump = stdout.replace(/^\\(un)?restrict .*\n/gm, '')
  await writeFile(join(target, 'postgres.sql.gz'), compressed(dump))
}

/** The agent program of the release with what it imports, without its tests. */
async function packAgent(): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'roost-fixture-'))
  const filter = (path: string) => !/\.test\.ts$|\/suite\.ts$/.test(path)
  await cp(join(root, 'agent'), join(folder, 'agent'), { recursive: true, filter })
  for (const name of await readdir(join(folder, 'agent/src/test')))
    if (name !== 'program.ts') await rm(join(folder, 'agent/src/test', name))
  await cp(join(root, 'contracts/src/link'), join(folder, 'contracts/src/link'), { recursive: true, filter })
  await cp(join(root, 'contracts/package.json'), join(folder, 'contracts/package.json'))
  await mkdir(join(folder, 'node_modules/@roost'), { recursive: true })
  await symlink('../../contracts', join(folder, 'node_modules/@roost/contracts'))
  const same = ['--sort=name', '--mtime=@0', '--owner=0', '--group=0', '--numeric-owner', '--mode=go+rX']
  const { stdout } = await run('tar', ['-c', ...same, '-C', folder, '.'], {
    encoding: 'buffer',
    maxBuffer: 1 << 28,
  })
  await writeFile(join(target, 'agent.tar.gz'), compressed(stdout))
  await rm(folder, { recursive: true })
}

function psql(url: string, args: string[]) {
  return run('psql', ['-q', '-v', 'ON_ERROR_STOP=1', ...args, url])
}

function compressed(content: string | Buffer): Buffer {
  return gzipSync(content, { level: 9 })
}
