/** Databases of earlier releases, with runs in flight and old agent programs, on today's platform. */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { promisify } from 'node:util'
import { aRun, startTestPlatform } from '../../agent/src/test/platform.ts'
import { internalSecretOf } from '../../cli/src/platform/process-environment.ts'
import { asSealed, openVault } from '../../server/src/foundation/vault/index.ts'
import { migrations } from '../../server/src/migrations/index.ts'
import { migrate } from '../../server/src/ports/database/migrator.ts'
import { openDatabase } from '../../server/src/ports/database/open.ts'
import type { Db, Migration } from '../../server/src/ports/database/port.ts'
import { byDialect } from '../../server/src/ports/database/schema-facts.ts'
import { silentLog } from '../../server/src/ports/log.ts'
import { eventually, type Loose } from '../acceptance/platform.ts'
import { askWith } from './answers.ts'
import { differences } from './compare.ts'
import { gateFile, inFlight, openMail, passwords, secrets } from './drive.ts'
import { type Dialect, type Fixture, repository, restoreFixture } from './fixture.ts'
import { type Running, startAgentProgram, startProcess } from './processes.ts'

const dialects: Dialect[] = process.env.ROOST_TEST_POSTGRES_URL ? ['sqlite', 'postgres'] : ['sqlite']

for (const version of ['0.1.0'])
  for (const dialect of dialects)
    describe(`${version} on ${dialect}`, () => {
      test('all lists, conversations, runs and transcripts are the same, and old agents finish their runs', async () => {
        await using fixture = await restoreFixture(version, dialect)
        const { facts, url } = fixture
        await using started = processesOf(fixture)
        const old = await fixture.agentProgram()
        await handRunTo(fixture, () => started.agent('alpha', old))
        await started.platform()
        const tokens = await signIn(fixture)
        const ask = askWith(url, tokens)
        const call = callsOf(url, tokens)
        const run = () => call('GET', `/api/agents/alpha/executions/${facts.inFlight}`)

        assert.equal((await run()).status, 'running')
        assert.deepEqual(await differences(facts.answers, ask), [])
        const { ok, violations } = await call('GET', '/api/ops/invariants')
        assert.ok(ok, JSON.stringify(violations))
        assert.deepEqual(await auditProblems(fixture), [])
        await secretsOpen(fixture)
        const statusWith = async (key: string) => (await askWith(url, { key })('key', '/api/agents')).status
        assert.equal(await statusWith(facts.keys.user ?? ''), 200)
        assert.equal(await statusWith(facts.keys.revoked ?? ''), 401)

        // The old program still holds the run that it got from the old platform, and ends it.
        await eventually(() => call('GET', '/api/agents/alpha/info').catch(() => null), Boolean)
        await writeFile(join(fixture.folder, 'alpha/home', gateFile), '')
        const ended = await eventually(run, ({ status }) => status !== 'running')
        assert.deepEqual([ended.status, ended.error], ['success', null], started.output())
        assert.match(ended.response, /finished late/)

        // Old programs go on working for their owners.
        await started.agent('gamma', old)
        const queued = () => call('GET', `/api/agents/gamma/executions/${facts.queued}`)
        assert.equal(
          (await eventually(queued, ({ status }) => status === 'success')).response,
          'after the upgrade',
        )
        const chat = async (who: string, message: string) =>
          (await call('POST', '/api/agents/alpha/chat', { message }, who)).response
        assert.equal(await chat('admin', 'remember kiwi [[reply:noted]]'), 'noted')

        // They cannot separate people, so the turns of others wait until the agent is restarted.
        const waiting = chat('bob', '[[reply:for bob]]')
        const items = () => call('GET', '/api/operator-queue?status=pending')
        const restartAlert = (answer: Loose) => JSON.stringify(answer).includes('program_outdated')
        await eventually(items, restartAlert)
        await started.restart('alpha', repository)
        assert.equal(await Promise.race([waiting, started.ended('alpha')]), 'for bob')
        await eventually(items, (answer) => !restartAlert(answer))
        assert.equal(await chat('admin', '[[recall:kiwi]]'), 'recall=yes')
      })

      test('a rollback returns to the rows before the upgrade, with its runs in flight, and once only', async () => {
        await using fixture = await restoreFixture(version, dialect)
        const before = await withDatabase(fixture, rowsOf)
        await using started = processesOf(fixture)
        await started.platform()
        await signIn(fixture)
        await started.stopPlatform()
        assert.notDeepEqual(await withDatabase(fixture, rowsOf), before)
        const output = await rollBack(fixture)
        assert.match(output, /To: +0\.1\.0\n/)
        assert.deepEqual(await withDatabase(fixture, rowsOf), before)
        await assert.rejects(rollBack(fixture), /no upgrade to go back from/)
      })

      test('a migration that changes a row is found by the comparison', async () => {
        await using fixture = await restoreFixture(version, dialect)
        const damage = async (db: Parameters<Migration['up']>[0]) => {
          const table = db.withTables<{ executions: { status: string; response: string } }>()
          await table
            .updateTable('executions')
            .set({ response: 'damaged' })
            .where('status', '=', 'success')
            .execute()
        }
        await withDatabase(fixture, (db) => migrate(db, damaged(damage), { now: () => fixture.at }))
        await using started = processesOf(fixture)
        await started.platform()
        const ofRuns = fixture.facts.answers.filter(
          ({ who, path }) => who === 'admin' && /executions/.test(path),
        )
        const found = await differences(ofRuns, askWith(fixture.url, await signIn(fixture)))
        assert.ok(
          found.some((line) => /executions\S* response: .* is now "damaged"/.test(line)),
          found.join('\n'),
        )
      })

      test('a migration that was changed after the upgrade is refused by its name, and so is a newer schema', async () => {
        await using fixture = await restoreFixture(version, dialect)
        const now = () => fixture.at
        await withDatabase(fixture, async (db) => {
          const names = await migrate(db, migrations, { now })
          assert.equal(names[0], migrations.find(({ name }) => name > '0046-workspace-ratings')?.name)
          const changed = migrations.map((each) =>
            each.name === '0004-runs' ? { ...each, checksum: 'of other code' } : each,
          )
          await assert.rejects(migrate(db, changed, { now }), /migration 0004-runs was changed/)
          await migrate(db, [...migrations, { name: '9999-later', up: async () => {} }], { now })
        })
        await using started = processesOf(fixture)
        await assert.rejects(started.platform(), /newer schema than this version .*\(9999-later\)/)
      })
    })

/** Today's migrations, of which the first new one does something else as well. */
function damaged(damage: Migration['up']): Migration[] {
  return migrations.map((migration) =>
    migration.name === '0047-cost-estimates'
      ? {
          ...migration,
          async up(db, schema) {
            await migration.up(db, schema)
            await damage(db, schema)
          },
        }
      : migration,
  )
}

/**
 * Plays the old platform at the address where today's will listen: hands the run in flight to the agent program, with
 * the claim token in the database, and goes away when the program works on it.
 */
async function handRunTo(fixture: Fixture, startProgram: () => Promise<unknown>) {
  const { facts, internalPort } = fixture
  const [row] = await withDatabase(fixture, (db) =>
    db
      .withTables<{ executions: { id: string; claim_token: number } }>()
      .selectFrom('executions')
      .select('claim_token')
      .where('id', '=', facts.inFlight)
      .execute(),
  )
  const claimToken = row?.claim_token ?? assert.fail('no run in flight')
  const platform = await startTestPlatform({ key: facts.agentKeys.alpha ?? '', port: internalPort })
  await startProgram()
  const run = { execution_id: facts.inFlight, claim_token: claimToken, message: inFlight }
  platform.enqueue(aRun({ ...run, timeout_seconds: 900 }))
  await platform.until(
    () => JSON.stringify(platform.runs.get(facts.inFlight)?.lines ?? []).includes('line 3'),
    'the lines of the run in flight',
  )
  await platform.close()
}

/** The processes of one test; they end with it. */
function processesOf(fixture: Fixture) {
  const agents = new Map<string, Running>()
  let api: Running | null = null
  const { at, env, facts } = fixture
  return {
    output: () => [api, ...agents.values()].map((each) => each?.output().slice(-4000)).join('\n'),
    async platform() {
      api = await startProcess('server/src/start/api.ts', { root: repository, at, env })
    },
    async stopPlatform() {
      await api?.end('SIGTERM')
    },
    async agent(name: string, root: string) {
      const linkUrl = `ws://127.0.0.1:${fixture.internalPort}/link`
      const options = { name, key: facts.agentKeys[name] ?? '', linkUrl, folder: join(fixture.folder, name) }
      agents.set(name, await startAgentProgram({ root, at, env: {}, ...options }))
    },
    /** Rejects when the program of an agent ends. */
    async ended(name: string): Promise<never> {
      const running = agents.get(name)
      if (running?.child.exitCode === null) await once(running.child, 'exit')
      assert.fail(`the program of ${name} ended:\n${running?.output().slice(-4000)}`)
    },
    async restart(name: string, root: string) {
      await agents.get(name)?.end('SIGTERM')
      await this.agent(name, root)
    },
    async [Symbol.asyncDispose]() {
      for (const agent of agents.values()) await agent.end('SIGTERM')
      await api?.end('SIGKILL')
    },
  }
}

/** All rows of all tables, as text. */
async function rowsOf(db: Db): Promise<Record<string, string[]>> {
  const facts = byDialect(db)
  const rows: Record<string, string[]> = {}
  for (const table of await facts.tables(db)) {
    const found = await db.withTables<Record<string, object>>().selectFrom(table).selectAll().execute()
    rows[table] = found.map((row) => JSON.stringify(row)).sort()
  }
  return rows
}

/** Runs `roost rollback` of today's version, which leaves this checkout alone. Throws with its output. */
async function rollBack({ env }: Fixture): Promise<string> {
  const main = join(repository, 'cli/src/main.ts')
  const options = { env: { PATH: process.env.PATH, HOME: process.env.HOME, ...env } }
  return (await promisify(execFile)(process.execPath, [main, 'rollback', '--yes', '--keep-code'], options))
    .stdout
}

async function withDatabase<T>(fixture: Fixture, work: (db: Db) => Promise<T>): Promise<T> {
  const db = await openDatabase(fixture.databaseUrl, silentLog)
  try {
    return await work(db)
  } finally {
    await db.close()
  }
}

/** Signs in as everybody of the fixture: with the old password, and with codes by mail. */
async function signIn({ url, mailFolder }: Fixture): Promise<Record<string, string>> {
  const form = new URLSearchParams({ username: 'admin', password: passwords.admin })
  const admin: Loose = await (await fetch(`${url}/api/token`, { method: 'POST', body: form })).json()
  const tokens: Record<string, string> = { admin: admin.access_token ?? assert.fail(JSON.stringify(admin)) }
  const call = callsOf(url, tokens)
  const codeFor = openMail(mailFolder, (path, body) => call('POST', path, body))
  for (const [name, prefix] of Object.entries({
    ann: '/api/auth/email',
    bob: '/api/auth/email',
    portal: '/api/enterprise/client-portal/auth',
  })) {
    const email = `${name === 'portal' ? 'bob' : name}@example.org`
    const code = await codeFor(email, `${prefix}/request`)
    const answer = await call('POST', `${prefix}/verify`, { email, code })
    tokens[name] = answer.access_token ?? answer.token
  }
  return tokens
}

function callsOf(url: string, tokens: Record<string, string>) {
  return async (method: string, path: string, body?: object, who = 'admin'): Promise<Loose> => {
    const response = await fetch(url + path, {
      method,
      headers: {
        accept: 'application/json',
        authorization: `Bearer ${tokens[who]}`,
        ...(body ? { 'content-type': 'application/json' } : {}),
      },
      body: body ? JSON.stringify(body) : null,
    })
    const text = await response.text()
    assert.ok(response.status < 300, `${method} ${path}: ${response.status} ${text}`)
    return text === '' ? null : JSON.parse(text)
  }
}

/** Reads the whole hash chain of the audit log. */
async function auditProblems({ env, internalPort }: Fixture): Promise<unknown[]> {
  const headers = { authorization: `Bearer ${await internalSecretOf(env)}` }
  const path = `http://127.0.0.1:${internalPort}/api/internal/audit-log/verification`
  const answer: Loose = await (await fetch(path, { headers })).json()
  return answer.valid === true && answer.checked > 0 ? [] : [answer]
}

/** Opens the secrets that the old release sealed: the keys of agents and the token of a model provider. */
async function secretsOpen(fixture: Fixture): Promise<void> {
  const vault = openVault({ encryptionKey: null, dataDir: join(fixture.folder, 'data') })
  type Tables = {
    agents: { id: string; name: string; agent_key_sealed: string | null }
    provider_subscriptions: { id: string; sealed_token: string }
  }
  await withDatabase(fixture, async (db) => {
    const tables = db.withTables<Tables>()
    for (const { id, name, agent_key_sealed } of await tables.selectFrom('agents').selectAll().execute()) {
      const expected = fixture.facts.agentKeys[name]
      if (expected) assert.equal(vault.open(asSealed(agent_key_sealed ?? ''), `agent-key:${id}`), expected)
    }
    const [token, ...more] = await tables.selectFrom('provider_subscriptions').selectAll().execute()
    assert.ok(token && more.length === 0)
    assert.equal(
      vault.open(asSealed(token.sealed_token), `provider-subscription:${token.id}`),
      secrets.subscription,
    )
  })
}
