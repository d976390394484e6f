import assert from 'node:assert/strict'
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
  async function running(): Promise<Run> {
    await world.visit('POST', `/chat/${link.token}`, { message: 'hi', async_mode: true })
    return world.claim()
  }
  const stream = (run: Run, query = '', headers = {}) =>
    world.visit('GET', `/executions/${link.token}/${run.execution_id}/stream${query}`, undefined, headers)
  return { world, link, running, stream, [Symbol.asyncDispose]: () => world[Symbol.asyncDispose]() }
}

test('the stream tells text and names of tools, by the numbers of lines, and how it ended', async () => {
  await using it = await start()
  const run = await it.running()
  const reply = it.stream(run)
  await it.world.says(run, lines)
  await it.world.end(run, { last_line: lines.length })
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
  const rest = (await it.stream(run, '', { 'last-event-id': '2' })).bytes.toString()
  assert.deepEqual([rest.includes('I look.'), rest.includes('Done.')], [false, true])
})

test('pieces of the text come before their line, and none of a thought', async () => {
  await using it = await start()
  const run = await it.running()
  const reply = it.stream(run, '?partials=true')
  const hold = { execution_id: run.execution_id, claim_token: run.claim_token }
  // A sign of life: it is being followed.
  await it.world.clock.waitingFor(15)
  const { handlers } = it.world.runs.dispatch
  handlers.partial(it.world.linked, { t: 'partial', ...hold, kind: 'thinking', text: 'hm' })
  handlers.partial(it.world.linked, { t: 'partial', ...hold, kind: 'text', text: 'I lo' })
  await it.world.says(run, lines)
  await it.world.end(run, { last_line: lines.length })
  const text = (await reply).bytes.toString()
  assert.deepEqual([text.includes('"text":"I lo"'), text.includes('hm')], [true, false])
})

test('404 execution_not_found for runs that the link has not started, whoever asked for them', async () => {
  await using it = await start()
  const { world } = it
  const run = await it.running()
  const other = await world.newLink()
  const chat = world.request(world.owner.key, 'POST', '/api/agents/scout/chat', { message: 'mine' })
  const own = await world.claim()
  for (const [token, { execution_id }] of [
    [other.token, run],
    [it.link.token, own],
    [it.link.token, { execution_id: 'unknown' }],
  ] as const) {
    const path = `/executions/${token}/${execution_id}`
    for (const [method, what] of [
      ['GET', 'status'],
      ['GET', 'stream'],
      ['POST', 'terminate'],
    ] as const) {
      const { status, json } = await world.visit(method, `${path}/${what}`)
      assert.deepEqual([status, json.error], [404, 'execution_not_found'])
    }
  }
  assert.equal((await world.runs.row(run.execution_id)).status, 'running')
  await world.end(own)
  await chat
})

test('a link that is disabled ends what is being given on it', async () => {
  await using it = await start()
  const { world, link } = it
  const run = await it.running()
  const followed = it.stream(run)
  const waited = world.visit('POST', `/chat/${link.token}`, { message: 'hi' })
  await world.waiting()
  await world.clock.waitingFor(15, 2)
  await world.manage('PUT', `/${link.id}`, { name: 'still open' })
  await world.relay()
  await world.manage('PUT', `/${link.id}`, { enabled: false })
  await world.relay()
  assert.equal((await followed).bytes.toString().includes('stream_end'), false)
  const { status, json } = await waited
  assert.deepEqual([status, json.error], [404, 'link_not_found'])
  assert.equal((await world.runs.row(run.execution_id)).status, 'running', 'the agent works on')
})

test('turns whose records are gone are forgotten, and tokens that are over', async () => {
  await using it = await start()
  const { world, link } = it
  const run = await it.running()
  await world.end(run)
  const turns = () =>
    world.db.withTables<{ public_turns: Loose }>().selectFrom('public_turns').selectAll().execute()
  const sweep = async () => {
    for (const loop of world.publicChat.loops) await loop.run(new AbortController().signal)
  }
  await sweep()
  assert.equal((await turns()).length, 1)
  await world.db.withTables<{ executions: Loose }>().deleteFrom('executions').execute()
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
