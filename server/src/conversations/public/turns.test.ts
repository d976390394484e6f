import assert from 'node:assert/strict'
import { once } from 'node:events'
import { test } from 'node:test'
import { openTestDatabase } from '../../test/dialects.ts'
import { type Loose, openPublicWorld, type Run } from './test/world.ts'

const lines = [
  { type: 'system', subtype: 'init', session_id: 'runtime-1', model: 'm', tools: ['Read'] },
  {
    type: 'assistant',
    message: {
      role: 'assistant',
      content: [
        { type: 'text', text: 'I look.' },
        { type: 'tool_use', id: 't1', name: 'Read', input: { file_path: '/home/developer/.env' } },
      ],
    },
  },
  {
    type: 'user',
    message: { role: 'user', content: [{ type: 'tool_result', tool_use_id: 't1', content: 'KEY=1' }] },
  },
  { type: 'assistant', message: { role: 'assistant', content: [{ type: 'text', text: 'Done.' }] } },
]

async function start() {
  const world = await openPublicWorld(openTestDatabase)
  const link = await world.newLink()
  async function startRun(): Promise<Run> {
    await world.visit('POST', `/chat/${link.token}`, { message: 'hi', async_mode: true })
    return world.claim()
  }
  const stream = (run: Run, query = '', headers = {}) =>
    world.visit('GET', `/executions/${link.token}/${run.execution_id}/stream${query}`, undefined, headers)
  return { world, link, running: startRun, stream, [Symbol.asyncDispose]: () => world[Symbol.asyncDispose]() }
}

test('the stream has text and tool names, with line numbers as ids, and the final status', async () => {
  await using setup = await start()
  const run = await setup.running()
  const reply = setup.stream(run)
  await setup.world.says(run, lines)
  await setup.world.end(run, { last_line: lines.length })
  const { status, headers, bytes } = await reply
  assert.equal(status, 200)
  assert.equal(headers['content-type'], 'text/event-stream')
  const events = bytes.toString().trim().split('\n\n')
  const data = events.map((event) => JSON.parse(/^data: (.*)$/m.exec(event)?.[1] ?? 'null'))
  assert.deepEqual(
    events.map((event) => /^id: (\d+)$/m.exec(event)?.[1]),
    ['2', '4', undefined],
  )
  assert.deepEqual(data[0].message.content, [
    { type: 'text', text: 'I look.' },
    { type: 'tool_use', name: 'Read' },
  ])
  assert.deepEqual(data[2], { type: 'stream_end', status: 'success', execution_id: run.execution_id })
  for (const secret of ['.env', 'KEY', 'runtime-1', 'cost', 'hi']) {
    assert.equal(bytes.toString().includes(secret), false, secret)
  }
  const rest = (await setup.stream(run, '', { 'last-event-id': '2' })).bytes.toString()
  assert.deepEqual([rest.includes('I look.'), rest.includes('Done.')], [false, true])
})

test('partials of text arrive before their line; partials of thoughts are hidden', async () => {
  await using setup = await start()
  const run = await setup.running()
  const reply = setup.stream(run, '?partials=true')
  const claim = { execution_id: run.execution_id, claim_token: run.claim_token }
  // The heartbeat timer runs, so the stream is open.
  await setup.world.clock.waitingFor(15)
  const { handlers } = setup.world.runs.dispatch
  await handlers.partial(setup.world.linked, { t: 'partial', ...claim, kind: 'thinking', text: 'hm' })
  await handlers.partial(setup.world.linked, { t: 'partial', ...claim, kind: 'text', text: 'I lo' })
  await setup.world.says(run, lines)
  await setup.world.end(run, { last_line: lines.length })
  const text = (await reply).bytes.toString()
  assert.deepEqual([text.includes('"text":"I lo"'), text.includes('hm')], [true, false])
})

test('404 execution_not_found for runs that the link did not start', async () => {
  await using setup = await start()
  const { world } = setup
  const run = await setup.running()
  const other = await world.newLink()
  const chat = world.request(world.owner.key, 'POST', '/api/agents/scout/chat', { message: 'own turn' })
  const own = await world.claim()
  for (const [token, { execution_id }] of [
    [other.token, run],
    [setup.link.token, own],
    [setup.link.token, { execution_id: 'unknown' }],
  ] as const) {
    const path = `/executions/${token}/${execution_id}`
    for (const [method, action] of [
      ['GET', 'status'],
      ['GET', 'stream'],
      ['POST', 'terminate'],
    ] as const) {
      const { status, json } = await world.visit(method, `${path}/${action}`)
      assert.deepEqual([status, json.error], [404, 'execution_not_found'])
    }
  }
  assert.equal((await world.runs.row(run.execution_id)).status, 'running')
  await world.end(own)
  await chat
})

test('disabling a link ends its open streams, waits and runs', async () => {
  await using setup = await start()
  const { world, link } = setup
  const run = await setup.running()
  const followed = setup.stream(run)
  const waited = world.visit('POST', `/chat/${link.token}`, { message: 'hi' })
  await world.waiting()
  await world.clock.waitingFor(15, 2)
  await world.manage('PUT', `/${link.id}`, { name: 'still open' })
  await world.relay()
  await world.manage('PUT', `/${link.id}`, { enabled: false })
  await world.relay()
  await followed
  // It shows that the turn was cancelled, or that the link is closed.
  assert.equal((await waited).json.response ?? null, null)
  const { status, error_code } = await world.runs.row(run.execution_id)
  assert.deepEqual([status, error_code], ['cancelled', 'access_ended'])
})

test('a link that is closed between the look-up and the reply ends the reply', async () => {
  await using setup = await start()
  const { world, link } = setup
  const admitted = await world.publicChat.lookUp(link.token, '192.0.2.1')
  await world.manage('PUT', `/${link.id}`, { enabled: false })
  await world.relay()
  const call = { token: link.token, open: admitted, signal: new AbortController().signal }
  const pieces = world.publicChat.stream(call, async function* (signal) {
    if (!signal.aborted) await once(signal, 'abort')
    yield 'ended'
  })
  assert.deepEqual(await Array.fromAsync(pieces), ['ended'])
})

test('turns are deleted with their runs, and expired tokens', async () => {
  await using setup = await start()
  const { world, link } = setup
  const run = await setup.running()
  await world.end(run)
  const turns = () =>
    world.db.withTables<{ public_turns: Loose }>().selectFrom('public_turns').selectAll().execute()
  const sweep = async () => {
    for (const loop of world.publicChat.loops) await loop.run(new AbortController().signal)
  }
  await sweep()
  assert.equal((await turns()).length, 1)
  await world.db.atomically(async (tx) => {
    for (const hook of world.runs.hooks.registered.removing) await hook(tx, [run.execution_id, 'other'])
  })
  assert.deepEqual(await turns(), [])
  await world.manage('PUT', `/${link.id}`, { require_email: true })
  await world.confirm(link.token, 'sam@example.org')
  await world.clock.advance(24 * 3600)
  await sweep()
  assert.deepEqual(await turns(), [])
  const tokens = await world.db
    .withTables<{ public_session_tokens: Loose }>()
    .selectFrom('public_session_tokens')
    .selectAll()
    .execute()
  assert.deepEqual(tokens, [])
})
