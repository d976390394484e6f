/** Requests that made the platform log errors, lose a race or report what is not true. */
import assert from 'node:assert/strict'
import { request } from 'node:http'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { after, before, test } from 'node:test'
import { type Platform, startPlatform } from '../acceptance/platform.ts'
import { succeed } from './people.ts'

let platform: Platform
before(async () => {
  platform = await startPlatform({ env: { ROOST_CONTAINERS_URL: 'fake:' } })
})
after(async () => {
  await platform?.[Symbol.asyncDispose]()
})

/** Sends a path as it is: `fetch` would resolve its dots. */
const statusOf = (path: string) =>
  new Promise<number | undefined>((resolve, reject) => {
    request(platform.url + path, { path }, (response) => {
      response.resume()
      resolve(response.statusCode)
    })
      .on('error', reject)
      .end()
  })
/** The log entries at level `error` since `position`. */
const errorsSince = (position: number) =>
  platform
    .output()
    .slice(position)
    .split('\n')
    .filter((line) => /"level":(50|60|"error"|"fatal")/.test(line))

test('paths out of the folder of assets are unknown, and leave no error in the log', async () => {
  const start = platform.output().length
  for (const path of [
    '/assets/%2e%2e/x',
    '/assets/%2e%2e%2fx',
    '/assets/..%2findex.html',
    '/assets/x/%2e%2e/%2e%2e/y',
    '/assets//x',
    '/assets/./x',
    '/assets/%5c..%5cx',
    '/assets/%00',
    '/assets/',
  ])
    assert.equal(await statusOf(path), 404, path)
  assert.deepEqual(errorsSince(start), [])
})

test('of simultaneous renames of one agent one succeeds', async () => {
  await succeed(platform.request('POST', '/api/agents', { name: 'many-names' }))
  const start = platform.output().length
  const names = Array.from({ length: 8 }, (_, index) => `new-name-${index}`)
  // Open connections first, so that no rename is over before the last one arrives.
  await Promise.all(names.map(() => platform.request('GET', '/api/agents')))
  const replies = await Promise.all(
    names.map((new_name) => platform.request('PUT', '/api/agents/many-names/rename', { new_name })),
  )
  const statuses = replies.map(({ status }) => status).toSorted()
  assert.equal(statuses[0], 200)
  for (const status of statuses.slice(1)) assert.ok(status === 404 || status === 409, `${status}`)
  const winner = names[replies.findIndex(({ status }) => status === 200)]
  const { json: agents } = await platform.request('GET', '/api/agents')
  const found = agents.map(({ name }: { name: string }) => name).filter((name: string) => /name/.test(name))
  assert.deepEqual(found, [winner])
  assert.deepEqual(errorsSince(start), [])
})

test('identical webhook calls at the same time trigger once, and leave no error in the log', async () => {
  await succeed(platform.request('POST', '/api/agents', { name: 'hooked' }))
  const schedules = '/api/agents/hooked/schedules'
  const made = await succeed(
    platform.request('POST', schedules, { name: 'hook', cron_expression: '0 0 1 1 *', message: 'hello' }),
  )
  const { webhook_url } = await succeed(platform.request('POST', `${schedules}/${made.id}/webhook`))
  const path = new URL(webhook_url).pathname
  const start = platform.output().length
  const replies = await Promise.all(
    Array.from({ length: 8 }, () => platform.request('POST', path, { context: 'same' }, { token: null })),
  )
  for (const { status, text } of replies) assert.ok(status === 202 || status === 409, text)
  const ids = new Set(replies.flatMap(({ json }) => json.execution_id ?? []))
  assert.equal(ids.size, 1)
  assert.deepEqual(errorsSince(start), [])
})

test('a database that accepts no writes is reported by the health, and the process is not ready', async () => {
  const health = async () => {
    const open = { token: null }
    const [now, ready] = await Promise.all([
      platform.request('GET', '/health', undefined, open),
      platform.request('GET', '/health/ready', undefined, open),
    ])
    return { now, ready }
  }
  const other = new DatabaseSync(join(platform.dataDir, 'roost.db'), { timeout: 30_000 })
  // A program that holds the write lock is the same to the platform as a disk without room.
  other.exec('BEGIN IMMEDIATE')
  try {
    let seen = await health()
    // The result of a write before the lock is valid for five seconds.
    const until = Date.now() + 15_000
    while (seen.now.json.status === 'healthy' && Date.now() < until) seen = await health()
    assert.deepEqual([seen.now.status, seen.now.json.status], [200, 'degraded'])
    assert.equal(seen.now.json.problems[0].store, 'database')
    assert.notEqual(seen.now.json.problems[0].reason, '')
    const { ready } = await health()
    assert.deepEqual([ready.status, ready.json.error], [503, 'store_unavailable'])
  } finally {
    other.exec('ROLLBACK')
    other.close()
  }
})
