/** Circuit breakers of an agent whose provider refuses it or whose program is unresponsive, and the invariants. */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { resolve } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { promisify } from 'node:util'
import { eventually, type Loose, type Platform, signIn, startPlatform } from './platform.ts'
import {
  answerOf,
  assertShape,
  beginTurn,
  chat,
  createAgent,
  docker,
  isSpawned,
  untilExecution,
} from './steps.ts'

const run = promisify(execFile)
const name = 'qa-breakers'
const silent = 'qa-breakers-silent'
let platform: Platform
before(async () => {
  platform = await startPlatform({ env: { DISPATCH_BREAKER_ENABLED: 'true' } })
  await Promise.all([name, silent].map((each) => createAgent(platform, each)))
  await api('PUT', 'capacity', { max_parallel_tasks: 1 })
})
after(async () => {
  await platform?.[Symbol.asyncDispose]()
})

const apiOf = (agent: string) => (method: string, path: string, body?: object) =>
  platform.request(method, `/api/agents/${agent}/${path}`, body)
const api = apiOf(name)
const breaker = async (agent = name): Promise<Loose> => (await apiOf(agent)('GET', 'circuit-breaker')).json
const refusedByProvider = async () => {
  const reply = await chat(platform, name, 'hello [[autherror]]')
  assert.deepEqual([reply.status, reply.json.error, reply.json.error_code], [503, 'run_failed', 'auth'])
}
const openBreaker = async () => {
  for (let time = 0; time < 3; time += 1) await refusedByProvider()
  assert.equal((await breaker()).dispatch.state, 'open')
}

describe('the dispatch breaker', () => {
  test('counts and reports failures while disabled, and refuses nothing', async () => {
    for (let time = 0; time < 3; time += 1) await refusedByProvider()
    const state = await breaker()
    assertShape(
      state,
      { agent_name: 'string', enabled: 'boolean', config: 'object', open: 'boolean', dispatch: 'object' },
      'breaker',
    )
    assert.deepEqual(state.config, { enabled: false, global_enabled: true })
    assert.deepEqual([state.open, state.dispatch.state, state.dispatch.failure_count], [false, 'closed', 3])
    assert.equal(await answerOf(platform, name, '[[reply:still here]]'), 'still here')
    assert.equal((await breaker()).dispatch.failure_count, 0, 'a success resets the count')
  })

  test('opens at the third refused run when enabled: queued runs fail and new requests get 503', async () => {
    const { json } = await api('PUT', 'circuit-breaker', { enabled: true })
    assert.deepEqual([json.enabled, json.config.enabled, json.warning], [true, true, undefined])
    for (let time = 0; time < 2; time += 1) await refusedByProvider()
    const third = await beginTurn(platform, name, 'slowly [[hold:third]] [[autherror]]')
    await untilExecution(platform, name, third.id, isSpawned)
    const waiting = await beginTurn(platform, name, 'I wait')
    platform.model.release('third')
    const failed = await untilExecution(platform, name, waiting.id, ({ status }) => status === 'failed')
    assert.equal(failed.error_code, 'circuit_open')
    await Promise.all([third.ended, waiting.ended])

    const recorded = async () => {
      const found = await api('GET', 'executions?status=failed&limit=200')
      return found.json.length
    }
    const before = await recorded()
    const replies = [
      await chat(platform, name, 'hello'),
      await api('POST', 'task', { message: 'hello' }),
      await api('POST', 'task', { message: 'hello', async_mode: true }),
      await api('POST', 'fan-out', { tasks: [{ message: 'one' }, { message: 'two' }] }),
    ]
    for (const { status, headers, json, text } of replies) {
      assert.deepEqual([status, json?.error], [503, 'circuit_open'], text)
      const wait = Number(headers.get('retry-after'))
      assert.ok(wait > 30 && wait <= 60, `Retry-After: ${wait}`)
      assert.equal(json.retry_after_seconds, wait)
      assert.equal(headers.get('x-circuit-open'), 'true')
    }
    assert.equal(await recorded(), before + replies.length, 'each refused request left one failed record')
    assert.deepEqual((await platform.request('GET', `/api/agents/${name}`)).json.circuit_breaker, {
      enabled: true,
      open: true,
    })
    const slots = (await platform.request('GET', '/api/agents/slots')).json
    assert.equal(slots.circuit_breakers[name], 'open')
  })

  test('stays open after a platform restart', async () => {
    await platform.killApi()
    await platform.startApi()
    platform.token = await signIn(platform)
    assert.equal((await chat(platform, name, 'hello')).json.error, 'circuit_open')
  })

  describe('while it is open for a minute', { concurrency: true }, () => {
    test('is half open after a minute, and closes after one successful run', async () => {
      await eventually(breaker, ({ dispatch }) => dispatch.state === 'half_open', 120_000)
      assert.equal(await answerOf(platform, name, '[[reply:back]]'), 'back')
      assert.deepEqual((await breaker()).dispatch, {
        state: 'closed',
        failure_count: 0,
        retry_after_seconds: null,
      })
    })

    test('the transport breaker marks an unresponsive agent, and never refuses a run', async () => {
      const ask = apiOf(silent)
      await docker('pause', `agent-${silent}`)
      try {
        const replies = Array.from({ length: 5 }, () => ask('GET', 'files'))
        for (const { status } of await Promise.all(replies)) assert.equal(status, 504)
        const { open, transport } = await breaker(silent)
        assert.deepEqual([open, transport.state], [true, 'open'])
        const accepted = await ask('POST', 'task', { message: 'later [[reply:late]]', async_mode: true })
        assert.equal(accepted.status, 200, accepted.text)
      } finally {
        await docker('unpause', `agent-${silent}`)
      }
      await eventually(
        async () => (await ask('GET', 'files')).status,
        (status) => status === 200,
      )
      assert.equal((await breaker(silent)).transport.state, 'closed')
    })
  })

  test('an admin can reset it', async () => {
    await openBreaker()
    const { status, json } = await api('POST', 'circuit-breaker/reset')
    assert.equal(status, 200)
    assert.deepEqual(
      [json.agent_name, json.prior_dispatch_state, json.prior_transport_state, json.new_state],
      [name, 'open', 'closed', 'closed'],
    )
    assert.equal(await answerOf(platform, name, '[[reply:at once]]'), 'at once')
  })
})

describe('invariants', () => {
  test('hold after all of this, and report what was read', async () => {
    const { status, json } = await platform.request('GET', '/api/ops/invariants')
    assert.equal(status, 200)
    assert.deepEqual([json.ok, json.violations], [true, []])
    assert.ok(json.read.executions > 8 && json.read.terminal > 8 && json.read.events > 20)
  })

  test('are reported by roost doctor --invariants', async () => {
    const root = resolve(import.meta.dirname, '../..')
    const { stdout } = await run(
      process.execPath,
      ['cli/src/main.ts', 'doctor', '--invariants', '--data-dir', platform.dataDir],
      { cwd: root, env: { ...process.env, ROOST_INTERNAL_PORT: String(platform.internalPort) } },
    )
    assert.match(stdout, /Read at .*: \d+ runs/)
    assert.match(stdout, /No failed checks/)
  })

  test('404 for the internal path on the public listener', async () => {
    assert.equal((await platform.request('GET', '/api/internal/invariants')).status, 404)
  })
})
