/**
 * A rolling upgrade: the new version starts and migrates while the old one runs, both serve, and the old one ends.
 * The old version is this checkout; the new one has one more migration. They share PostgreSQL, Redis and the data
 * folder. Times are real, because schedules fire at full minutes.
 */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { chmod, cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { freePort } from '../../cli/src/machine/free-port.ts'
import { asSealed, openVault } from '../../server/src/foundation/vault/index.ts'
import { openDatabase } from '../../server/src/ports/database/open.ts'
import { silentLog } from '../../server/src/ports/log.ts'
import { eventually, type Loose } from '../acceptance/platform.ts'
import { passwords } from './drive.ts'
import { repository } from './fixture.ts'
import { type Running, startAgentProgram, startProcess } from './processes.ts'

const run = promisify(execFile)
const postgresUrl = process.env.ROOST_TEST_POSTGRES_URL
const redisUrl = process.env.ROOST_TEST_REDIS_URL
const skip = postgresUrl && redisUrl ? false : 'ROOST_TEST_POSTGRES_URL or ROOST_TEST_REDIS_URL is not set'

/** The end of a run waits for this file. */
const gateFile = 'go-on'

test('old and new replicas serve side by side, and no run is lost and no schedule fires twice', {
  skip,
}, async () => {
  await using world = await openWorld()
  const old = await world.api(repository)
  await world.scheduler(repository, old)
  const ask = await world.signIn(old.url)
  await ask(old, 'POST', '/api/agents', { name: 'alpha' })
  await world.agent('alpha')
  await eventually(() => ask(old, 'GET', '/api/agents/alpha/info').catch(() => null), Boolean)
  const schedule = await ask(old, 'POST', '/api/agents/alpha/schedules', {
    ...{ name: 'often', cron_expression: '* * * * *', message: '[[reply:fired]]' },
  })
  const chat = async (at: Api, message: string) =>
    (await ask(at, 'POST', '/api/agents/alpha/chat', { message })).response
  const accepted: string[] = []
  const begin = async (at: Api, message: string) => {
    const body = { message, async_mode: true }
    accepted.push((await ask(at, 'POST', '/api/agents/alpha/task', body)).execution_id)
  }
  const stateOf = async (at: Api, id = '') => ask(at, 'GET', `/api/agents/alpha/executions/${id}`)
  assert.equal(await chat(old, 'remember mango [[reply:noted]]'), 'noted')
  await begin(old, `[[tool:Bash:until test -e ${gateFile}; do sleep 0.1; done; echo finished late]]`)
  await eventually(
    () => stateOf(old, accepted[0]),
    ({ status }) => status === 'running',
  )

  const newRoot = await world.nextRelease()
  const fresh = await world.api(newRoot)
  await world.scheduler(newRoot, fresh)
  for (const [api, state] of [
    [old, 'newer'],
    [fresh, 'complete'],
  ] as const) {
    const health: Loose = await (await fetch(`${api.url}/health`)).json()
    assert.deepEqual([health.status, health.migrations.state], ['healthy', state])
    assert.equal((await fetch(`${api.url}/health/ready`)).status, 200)
  }
  const { versions, replicas } = await eventually(
    () => ask(old, 'GET', '/api/ops/replicas'),
    (list: Loose) => list.replicas.length === 4,
  )
  assert.deepEqual(versions, ['0.1.0', '0.1.1'])
  assert.deepEqual(replicas.map(({ role, version, state }: Loose) => `${role} ${version} ${state}`).sort(), [
    'api 0.1.0 live',
    'api 0.1.1 live',
    'scheduler 0.1.0 live',
    'scheduler 0.1.1 live',
  ])
  // Each reads what the other one wrote, and both write.
  for (const [api, other] of [
    [old, fresh],
    [fresh, old],
  ] as const) {
    assert.equal(await chat(api, '[[recall:mango]]'), 'recall=yes')
    await begin(api, '[[reply:done]]')
    await eventually(
      () => stateOf(other, accepted.at(-1)),
      ({ status }) => status === 'success',
    )
    const body = { label: `written by ${api.url}` }
    await ask(api, 'PUT', '/api/agents/alpha/label', body)
    // The other process learns of the change through Redis.
    await eventually(
      () => ask(other, 'GET', '/api/agents/alpha'),
      ({ label }) => label === body.label,
    )
  }
  const fires = (at: Api) => ask(at, 'GET', `/api/agents/alpha/schedules/${schedule.id}/fires`)
  const before: Loose[] = await eventually(
    () => fires(fresh),
    (list: Loose[]) => list.some(({ outcome }) => outcome === 'fired'),
    100_000,
  )

  // The old version ends. The agent, with its run in flight, reaches the new one at the same port.
  await world.endOf(repository)
  await writeFile(join(world.folder, 'alpha/home', gateFile), '')
  const ended = await eventually(
    () => stateOf(fresh, accepted[0]),
    ({ status }) => status !== 'running',
    60_000,
  )
  assert.deepEqual([ended.status, ended.error], ['success', null], world.output())
  assert.match(ended.response, /finished late/)
  assert.equal(await chat(fresh, '[[recall:mango]]'), 'recall=yes')
  const after: Loose[] = await eventually(
    () => fires(fresh),
    (list: Loose[]) => list.filter(({ outcome }) => outcome === 'fired').length > before.length,
    130_000,
  )
  assert.equal(new Set(after.map(({ due_at }) => due_at)).size, after.length, 'each due time has one fire')
  for (const id of accepted) assert.equal((await stateOf(fresh, id)).status, 'success')
  const left = await ask(fresh, 'GET', '/api/ops/replicas')
  assert.deepEqual(left.versions, ['0.1.1'])
  const { ok, violations } = await ask(fresh, 'GET', '/api/ops/invariants')
  assert.ok(ok, JSON.stringify(violations))
  // An old process that is started now refuses, so that nobody goes back by accident.
  await assert.rejects(world.api(repository), /newer schema than this version .*\(9001-next\)/)
})

type Api = { url: string; internalPort: number }

async function openWorld() {
  const folder = await mkdtemp(join(tmpdir(), 'roost-rolling-'))
  // The agent program runs as another user.
  await chmod(folder, 0o755)
  const dataDir = join(folder, 'data')
  await mkdir(dataDir, { mode: 0o700 })
  const name = `roost_rolling_${randomBytes(6).toString('hex')}`
  const psql = (command: string) =>
    run('psql', ['-q', '-v', 'ON_ERROR_STOP=1', '-c', command, postgresUrl ?? ''])
  await psql(`create database ${name}`)
  const databaseUrl = Object.assign(new URL(postgresUrl ?? ''), { pathname: `/${name}` }).href
  const internalPort = await freePort()
  const running: { root: string; process: Running }[] = []
  let token = ''
  const common = {
    ROOST_DATA_DIR: dataDir,
    ROOST_INTERNAL_PORT: String(internalPort),
    ROOST_INTERNAL_PORT_SHARED: 'true',
    ROOST_CONTAINERS_URL: 'fake:',
    ROOST_LOG_LEVEL: 'warn',
    ROOST_DATABASE_URL: databaseUrl,
    ROOST_REDIS_URL: redisUrl ?? '',
    ROOST_UPGRADE_BACKUP: 'false',
  }
  const start = async (file: string, root: string, env: Record<string, string>) => {
    const process = await startProcess(file, { root, at: new Date(), env: { ...common, ...env } })
    running.push({ root, process })
  }
  return {
    folder,
    output: () => running.map(({ process }) => process.output().slice(-4000)).join('\n'),
    async api(root: string): Promise<Api> {
      const port = await freePort()
      await start('server/src/start/api.ts', root, { ROOST_PORT: String(port) })
      return { url: `http://127.0.0.1:${port}`, internalPort }
    },
    scheduler: (root: string, { internalPort: at }: Api) =>
      start('server/src/start/scheduler.ts', root, { ROOST_INTERNAL_PORT: String(at) }),
    /** Calls as the admin; throws for an error status. */
    async signIn(url: string) {
      const setup = { method: 'POST', headers: { 'content-type': 'application/json' } }
      const body = JSON.stringify({ password: passwords.admin })
      await fetch(`${url}/api/setup/admin-password`, { ...setup, body })
      const form = new URLSearchParams({ username: 'admin', password: passwords.admin })
      const signedIn: Loose = await (await fetch(`${url}/api/token`, { method: 'POST', body: form })).json()
      token = signedIn.access_token ?? assert.fail(JSON.stringify(signedIn))
      return async (at: Api, method: string, path: string, sent?: object): Promise<Loose> => {
        const response = await fetch(at.url + path, {
          method,
          headers: {
            accept: 'application/json',
            authorization: `Bearer ${token}`,
            ...(sent ? { 'content-type': 'application/json' } : {}),
          },
          body: sent ? JSON.stringify(sent) : null,
        })
        const text = await response.text()
        assert.ok(response.status < 300, `${method} ${at.url}${path}: ${response.status} ${text}`)
        return text === '' ? null : JSON.parse(text)
      }
    },
    async agent(agentName: string) {
      const process = await startAgentProgram({
        ...{ root: repository, at: new Date(), env: {}, name: agentName, folder: join(folder, agentName) },
        key: await agentKey(agentName),
        linkUrl: `ws://127.0.0.1:${internalPort}/link`,
      })
      running.push({ root: 'agent', process })
    },
    /** This checkout as the next release: a later version with one more, additive migration. */
    async nextRelease(): Promise<string> {
      const root = join(folder, 'next')
      await mkdir(root)
      for (const part of ['server', 'contracts'])
        await cp(join(repository, part), join(root, part), {
          recursive: true,
          filter: (path) => !path.includes('node_modules'),
        })
      await symlink(join(repository, 'node_modules'), join(root, 'node_modules'))
      const manifest = JSON.parse(await readFile(join(repository, 'package.json'), 'utf8'))
      await writeFile(join(root, 'package.json'), JSON.stringify({ ...manifest, version: '0.1.1' }))
      const list = join(root, 'server/src/migrations/index.ts')
      const migration =
        "{ name: '9001-next', async up(db) { await db.schema.alterTable('agents').addColumn('next', 'text').execute() } }"
      await writeFile(list, (await readFile(list, 'utf8')).replace(/^\]$/m, `  ${migration},\n]`))
      return root
    },
    async endOf(root: string) {
      for (const each of running) if (each.root === root) await each.process.end('SIGTERM')
    },
    async [Symbol.asyncDispose]() {
      for (const { process } of running.toReversed()) await process.end('SIGKILL')
      await psql(`drop database ${name} with (force)`)
      await rm(folder, { recursive: true, force: true })
    },
  }

  async function agentKey(agentName: string): Promise<string> {
    const db = await openDatabase(databaseUrl, silentLog)
    try {
      const { id, agent_key_sealed } = await db
        .withTables<{ agents: { id: string; name: string; agent_key_sealed: string } }>()
        .selectFrom('agents')
        .select(['id', 'agent_key_sealed'])
        .where('name', '=', agentName)
        .executeTakeFirstOrThrow()
      return openVault({ encryptionKey: null, dataDir }).open(asSealed(agent_key_sealed), `agent-key:${id}`)
    } finally {
      await db.close()
    }
  }
}
