import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { freePort } from '../machine/free-port.ts'
import { acquireUpLock } from '../machine/lock.ts'
import { checkPlatform } from './platform.ts'
import { readPlatformState } from './platform-state.ts'

/** Creates a data folder locked by this process as `roost up`. With `reply` null the platform never answers. */
async function installation(t: TestContext, reply: { status: number; body: object } | null) {
  const server = createServer((_, response) => {
    if (reply) response.writeHead(reply.status).end(JSON.stringify(reply.body))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  // The address of a listening TCP server is an object.
  const { port } = server.address() as AddressInfo
  const dataDir = await mkdtemp(join(tmpdir(), 'roost-seen-'))
  const lock = await acquireUpLock(dataDir, { host: '127.0.0.1', port })
  assert.ok('release' in lock)
  t.after(async () => {
    server.closeAllConnections()
    server.close()
    await lock.release()
    await rm(dataDir, { recursive: true, force: true })
  })
  return { port, env: { ROOST_DATA_DIR: dataDir, ROOST_INTERNAL_PORT: String(port) }, lock }
}

test('distinguishes a stopped, a starting and a responding platform', async (t) => {
  const { env, lock } = await installation(t, {
    status: 200,
    body: { migrations: { applied: 2, expected: 2 } },
  })
  assert.equal((await readPlatformState({ ROOST_DATA_DIR: '/nonexistent/roost' })).state, 'down')
  assert.equal((await readPlatformState(env)).state, 'starting')
  await lock.ready('http://here')
  const state = await readPlatformState(env)
  assert.equal(state.state, 'responding')
  const [platform] = await checkPlatform(env, state)
  assert.equal(platform?.message, 'healthy at http://here, 2 of 2 migrations applied')
})

test('while the platform starts, missing ports and processes are not failures', async (t) => {
  const { env } = await installation(t, null)
  const findings = await checkPlatform(
    { ...env, ROOST_INTERNAL_PORT: String(await freePort()) },
    await readPlatformState(env),
  )
  assert.deepEqual(
    findings.map(({ state, about }) => [state, about]),
    [
      ['warn', 'platform'],
      ['ok', 'public port'],
      ['ok', 'internal port'],
    ],
  )
})

test('a platform that does not answer in time is a failure', async (t) => {
  const { env, lock } = await installation(t, null)
  await lock.ready('http://here')
  const state = await readPlatformState(env, 50)
  assert.equal(state.state, 'unresponsive')
  const [platform] = await checkPlatform(env, state)
  assert.equal(platform?.state, 'fail')
  assert.match(platform?.message ?? '', /does not answer at http:\/\/here: no answer within/)
})

test('an unhealthy platform is a failure with its own detail', async (t) => {
  const { env, lock } = await installation(t, {
    status: 503,
    body: { detail: 'The database cannot be reached.' },
  })
  await lock.ready('http://here')
  const [platform] = await checkPlatform(env, await readPlatformState(env))
  assert.deepEqual(
    [platform?.state, platform?.message],
    ['fail', 'answers 503: The database cannot be reached.'],
  )
})

test('in a container, only the program of the container is checked', async (t) => {
  const { port, env } = await installation(t, { status: 200, body: {} })
  const container = { ...env, ROOST_INSTALL_SOURCE: 'chart', ROOST_HOST: '0.0.0.0', ROOST_PORT: String(port) }
  const healthy = await checkPlatform(container, await readPlatformState(container))
  const shown = healthy.map(({ state, about, message }) => [state, about, message])
  assert.deepEqual(shown, [['ok', 'platform', `healthy at http://127.0.0.1:${port}`]])

  const closed = { ...container, ROOST_PORT: String(await freePort()) }
  const [silent, ...others] = await checkPlatform(closed, await readPlatformState(closed))
  assert.deepEqual([silent?.state, others], ['fail', []])
  assert.match(silent?.message ?? '', /^does not answer at /)
})
