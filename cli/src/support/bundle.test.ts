import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdir, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { gunzipSync } from 'node:zlib'
import { writeBundle } from './bundle.ts'
import { describeConfiguration } from './configuration.ts'

const now = new Date('2030-01-01T00:00:00.000Z')
/** None of them has the form of a known kind of secret, apart from those that must be masked by form. */
const canaries = {
  ANTHROPIC_API_KEY: 'canary-provider-key',
  ROOST_ENCRYPTION_KEY: 'canary"encryption\\key',
  ROOST_INTERNAL_SECRET: 'canary-internal-secret-0123456789abcdef',
  ROOST_METRICS_TOKEN: 'canary-metrics-token-0123456789abcdef',
  ROOST_UNKNOWN_SETTING: 'canary-of-a-later-version',
  SLACK_SIGNING_SECRET: 'canary-slack-secret',
  SOME_PASSWORD: 'canary-of-another-program',
}
const inAddresses = ['canary-database pass', 'canary-redis-pass', 'canary-mail-pass', 'canary-gateway-token']
const byForm = ['svc_mcp_canary0123456789', 'ghp_canary0123456789abcdef', 'sk-canary0123456789']

async function start(t: TestContext) {
  const folder = await mkdtemp(join(tmpdir(), 'roost-bundle-'))
  t.after(() => rm(folder, { recursive: true }))
  const all = [...Object.values(canaries), ...inAddresses, ...byForm]
  const server = createServer((_, response) => {
    response.end(JSON.stringify({ status: 'healthy', leaked: all }))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => server.close())
  const { port } = server.address() as AddressInfo
  const env = {
    ...canaries,
    ROOST_DATA_DIR: folder,
    ROOST_PORT: String(port),
    ROOST_INTERNAL_PORT: String(port),
    ROOST_DATABASE_URL: `postgres://roost:${encodeURIComponent(inAddresses[0] ?? '')}@db.example:5432/roost`,
    ROOST_REDIS_URL: `redis://:${inAddresses[1]}@redis.example:6379`,
    ROOST_MAIL_URL: `smtp://me:${inAddresses[2]}@mail.example`,
    ANTHROPIC_BASE_URL: `https://gateway.example/v1?auth=${inAddresses[3]}`,
  }
  await mkdir(join(folder, 'logs'))
  const line = `${JSON.stringify({ level: 'error', msg: `it failed with ${all.join(' and ')}` })}\n`
  await writeFile(join(folder, 'logs/api.log'), `old${'x'.repeat(600_000)}\n${line}end of the log\n`)
  await writeFile(join(folder, 'logs/model.log'), 'a conversation\n')
  return { folder, env, all }
}

test('the bundle contains no secret of the configuration, in any form, from any source', async (t) => {
  const { folder, env, all } = await start(t)
  const to = join(folder, 'bundle.tar.gz')
  const names = await writeBundle({ env, to, report: `fail ${all.join(' ')}\n`, now })
  const text = gunzipSync(await readFile(to)).toString()
  for (const secret of all)
    for (const form of [secret, JSON.stringify(secret).slice(1, -1), encodeURIComponent(secret)])
      assert.ok(!text.includes(form), form)
  assert.equal(text.includes('a conversation'), false)
  assert.deepEqual(names, [
    ...['doctor.txt', 'about.json', 'configuration.json', 'health.json', 'state.json', 'metrics.txt'],
    'logs/api.log',
  ])
  assert.match(text, /"roost": "\d+\.\d+\.\d+/)
  assert.match(text, /end of the log/)
  assert.doesNotMatch(text, /old/, 'the end of a long log, from a whole line on')
  assert.match(text, /it failed with/)
  assert.equal((await stat(to)).mode & 0o777, 0o600)
})

test('an existing file is kept, and a platform that is down leaves reasons', async (t) => {
  const { folder, env } = await start(t)
  const to = join(folder, 'bundle.tar.gz')
  await writeFile(to, 'mine')
  await assert.rejects(writeBundle({ env, to, report: '', now }), { code: 'EEXIST' })
  assert.equal(await readFile(to, 'utf8'), 'mine')
  const down = { ...env, ROOST_PORT: '9', ROOST_INTERNAL_PORT: '9' }
  await writeBundle({ env: down, to: `${to}.2`, report: '', now })
  const text = gunzipSync(await readFile(`${to}.2`)).toString()
  assert.match(text, /This could not be read/)
  assert.match(text, /ECONNREFUSED/)
})

test('the configuration shows harmless values, hosts of addresses, and that others are set', () => {
  const shown = describeConfiguration({
    ROOST_PORT: '8000',
    ROOST_DATABASE_URL: 'sqlite:/data/roost.db',
    ROOST_REDIS_URL: 'redis://user:pass@redis.example:6379/1',
    OPENAI_API_KEY: 'x',
    ROOST_BASE_URL: '',
    HOME: '/root',
  })
  assert.deepEqual(shown, {
    OPENAI_API_KEY: '[set]',
    ROOST_DATABASE_URL: 'sqlite:',
    ROOST_PORT: '8000',
    ROOST_REDIS_URL: 'redis://redis.example:6379',
  })
})
