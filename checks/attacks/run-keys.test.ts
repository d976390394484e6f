/** Attacks with the key that a turn holds: after the turn, and on behalf of people who may do less than the agent. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { after, before, test } from 'node:test'
import { WebSocket } from 'ws'
import { eventually } from '../acceptance/platform.ts'
import { isSpawned, runInAgent, untilExecution } from '../acceptance/steps.ts'
import { type Attacker, openScene, type Scene, succeed } from './people.ts'

const agent = 'att-keys'
let scene: Scene
before(async () => {
  scene = await openScene(agent)
  await scene.platform.startBeside('mcp/src/start.ts')
})
after(() => scene?.[Symbol.asyncDispose]())

const keyText = /svc_mcp_[A-Za-z0-9_.-]{30,}/g
let turns = 0

type OpenTurn = { keys: Attacker[]; end(): Promise<void> }

/** Starts a turn of this person that hands out all keys it finds, and waits until it is told to end. */
async function stealFrom(person: Attacker, path: 'chat' | 'task' = 'chat'): Promise<OpenTurn> {
  turns += 1
  const name = `stolen-${turns}`
  const script = `(printenv; cat .mcp.json) > ${name}.part; mv ${name}.part ${name}; until [ -e ${name}.end ]; do sleep 0.1; done`
  const message = `[[tool:Bash:${script}]][[reply:done]]`
  const response = await fetch(`${scene.platform.url}/api/agents/${agent}/${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${person.token}`, 'content-type': 'application/json' },
    body: JSON.stringify(path === 'chat' ? { message } : { message, async_mode: true }),
  })
  assert.ok(response.ok, await (response.ok ? '' : response.text()))
  const ended = response.text()
  const id = response.headers.get('x-execution-id') ?? assert.fail('no execution id')
  await untilExecution(scene.platform, agent, id, isSpawned)
  const text = await eventually(() => runInAgent(agent, `cat ${name} 2>/dev/null || true`), Boolean)
  const keys = [...new Set(text.match(keyText) ?? [])]
  return {
    keys: keys.map((token, index) => ({ name: `${person.name}'s key ${index + 1}`, token })),
    async end() {
      await runInAgent(agent, `touch ${name}.end`)
      await ended
      await untilExecution(scene.platform, agent, id, ({ status }) => status === 'success')
    },
  }
}

const mcp = (token: string) =>
  fetch(`${scene.platform.url}/mcp`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${token}`,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} }),
  }).then(({ status }) => status)

const internal = (token: string) =>
  fetch(`http://127.0.0.1:${scene.platform.internalPort}/api/internal/execute-task`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      agent_name: agent,
      message: '[[reply:taken]]',
      triggered_by: 'manual',
      async_mode: true,
    }),
  }).then(({ status }) => status)

const link = (token: string) => closing(`ws://127.0.0.1:${scene.platform.internalPort}/link`, token)
const eventsUrl = (token: string) =>
  `${scene.platform.url.replace('http', 'ws')}/ws/events?token=${encodeURIComponent(token)}`
const events = (token: string) => closing(eventsUrl(token))

/** `open` when the socket stays open until the server has sent something, else the refusal. */
function closing(url: string, bearer?: string): Promise<number | 'open'> {
  return new Promise((done) => {
    const socket = new WebSocket(url, bearer ? { headers: { authorization: `Bearer ${bearer}` } } : {})
    socket.on('message', () => {
      done('open')
      socket.terminate()
    })
    socket.on('close', (code) => done(code))
    socket.on('unexpected-response', (_, response) => done(response.statusCode ?? 0))
    socket.on('error', () => {})
    socket.on('open', () => socket.send('ping'))
  })
}

test('a turn finds no key that works after it', async () => {
  for (const path of ['chat', 'task'] as const) {
    const turn = await stealFrom(scene.owner, path)
    assert.ok(turn.keys.length > 0, 'the turn has a key')
    const during = await Promise.all(turn.keys.map((key) => scene.call(key, 'GET', '')))
    assert.ok(
      during.some(({ status }) => status === 200),
      'the key works during the turn',
    )
    await turn.end()
    for (const key of turn.keys) {
      const { status, json } = await scene.call(key, 'GET', '')
      assert.deepEqual([path, status, json.error], [path, 401, 'run_key_ended'])
      assert.deepEqual([path, await mcp(key.token)], [path, 401])
      assert.deepEqual([path, await internal(key.token)], [path, 401])
      assert.deepEqual([path, await events(key.token)], [path, 4001])
      assert.notEqual(await link(key.token), 'open')
    }
  }
})

test('a socket opened with the key of a turn is closed when the turn ends, and the key opens no more', async () => {
  for (const path of ['chat', 'task'] as const) {
    const turn = await stealFrom(scene.owner, path)
    const [key] = turn.keys
    assert.ok(key, 'the turn has a key')
    const socket = new WebSocket(eventsUrl(key.token))
    await once(socket, 'message')
    const closed = once(socket, 'close', { signal: AbortSignal.timeout(120_000) })
    await turn.end()
    const [code] = await closed
    assert.deepEqual([path, code], [path, 4001])
    assert.deepEqual([path, await events(key.token)], [path, 4001])
  }
})

test('the workspace holds no long-lived key', async () => {
  const { token } = scene.self
  const found = await runInAgent(agent, `grep -rlF '${token}' /home/developer 2>/dev/null; true`)
  assert.equal(found, '')
})

test('the key of a shared turn gives no rights of the owner', async () => {
  const turn = await stealFrom(scene.sharer)
  const schedule = { name: 'planted', message: 'x', cron_expression: '0 3 * * *' }
  const { id } = await succeed(scene.call(scene.owner, 'POST', '/schedules', schedule))
  for (const key of turn.keys) {
    const attempts: [string, string, object?][] = [
      ['DELETE', `/schedules/${id}`],
      ['POST', '/stop'],
      ['GET', '/files/download?path=.mcp.json'],
      ['PUT', '/timeout', { execution_timeout_seconds: 60 }],
    ]
    for (const [method, path, body] of attempts) {
      const { status, text } = await scene.call(key, method, path, body)
      assert.ok(status === 403 || status === 404, `${method} ${path}: ${status} ${text}`)
    }
    assert.notEqual(await link(key.token), 'open')
  }
  await turn.end()
  await succeed(scene.call(scene.owner, 'DELETE', `/schedules/${id}`))
})
