/**
 * Two owners on one platform. Nobody of the one gets a word of the other, with a session, a key, or the key of a run
 * while it runs and afterwards. Within an agent, the runs of one person get no word of another person.
 */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { endpoints } from '@roost/contracts'
import type { Endpoint } from '@roost/contracts/kit/endpoint'
import { eventually } from '../acceptance/platform.ts'
import { runsOf } from './runs.ts'
import { openWorld, type World } from './world.ts'

const ownersWords = 'words-of-the-owner'
/** In a chat of the owner. */
const privateWords = 'words-between-owner-and-agent'
/** A sharer sees the agent's runs, these among them; another visitor and a reader's run do not. */
const visitorsWords = 'words-of-the-visitor'
/** What the owner set up on the agent. */
const agentsWords = 'words-of-the-agent'

let world: World
let owner: string
/** Ids of everything that exists in the attacked agent. */
let ids: string[]
/** Credentials of people and programs that have nothing to do with the attacked agent. */
const foreign: Record<string, string> = {}
/** The owner's private conversation. */
let conversation: string
/** Errors of the tasks with which the runs in the attacked agent try to add a message to that conversation. */
const injections: Record<string, string> = {}
/** Keys of runs in the attacked agent, with the words that their person may read. */
const inside: Record<string, { key: string; reads: string[] }> = {}

before(async () => {
  world = await openWorld()
  owner = await world.person('owner@example.org', 'creator')
  const scout = await open(owner, 'scout')
  ids = await fill(owner)
  const reader = await shareWith('reader@example.org', 'read')
  const sharer = await shareWith('sharer@example.org', 'write')
  const { keys } = await runsOf(world, { ...scout, tokens: [reader, sharer] })
  inside['run for a reader'] = { key: keys[0] ?? '', reads: [] }
  inside['run for a sharer'] = { key: keys[1] ?? '', reads: [ownersWords, visitorsWords, agentsWords] }
  const words = visitorsWords
  inside['run for a visitor'] = { key: await visit(scout, owner, words), reads: [words] }
  inside['run for another visitor'] = { key: await visit(scout, owner, 'hello'), reads: [] }

  const neighbour = await world.person('neighbour@example.org', 'creator')
  foreign.session = neighbour
  foreign['user key'] = (await world.mint(neighbour, { name: 'user' })).key
  const other = await open(neighbour, 'other')
  foreign["agent's key"] = other.agentKey
  const own = await runsOf(world, { ...other, tokens: [neighbour] })
  foreign['run for its owner'] = own.keys[0] ?? assert.fail()
  foreign['run for a visitor'] = await visit(other, neighbour, 'hello')
  const ended = await runsOf(world, { ...other, tokens: [neighbour] })
  foreign['ended run'] = ended.keys[0] ?? assert.fail()
  await world.ok('POST', `/api/agents/other/executions/${ended.ids[0]}/terminate`, { token: neighbour })
  const inject = { message: 'obey', session_id: conversation, inject_result: true, async_mode: true }
  for (const [kind, { key }] of Object.entries(inside)) {
    const { text } = await world.ask('POST', '/api/agents/scout/task', { token: key, body: inject })
    injections[kind] = JSON.parse(text).error
  }
  // Requests for files would wait for agent programs, which do not exist here. A stop would end the runs.
  for (const agent of ['scout', 'other']) await world.setStopped(agent)
})
after(() => world?.[Symbol.asyncDispose]())

async function open(token: string, agent: string) {
  const id = await world.makeAgent(token, agent)
  await world.ok('POST', `/api/agents/${agent}/start`, { token })
  const body = { max_parallel_tasks: 10 }
  await world.ok('PUT', `/api/agents/${agent}/capacity`, { token, body })
  return { agent, agentKey: await world.plantKey('agent', await world.idOf(token), id) }
}

async function shareWith(email: string, access: string): Promise<string> {
  const person = await world.person(email, 'user')
  await world.ok('POST', '/api/agents/scout/share', { token: owner, body: { email, access } })
  return person
}

/** A visitor of a new public link sends a message. Returns the key of the run. */
async function visit(of: { agent: string; agentKey: string }, token: string, message: string) {
  const path = `/api/agents/${of.agent}/public-links`
  const link = await world.ok('POST', path, { token, body: { name: 'site' } })
  const body = { message, async_mode: true }
  const { execution_id } = await world.ok('POST', `/api/public/chat/${link.token}`, { body })
  ids.push(execution_id, link.id)
  const { keys } = await runsOf(world, { ...of, tokens: [], waiting: [execution_id] })
  return keys[0] ?? assert.fail('no key')
}

/** Puts words everywhere. Returns the ids of what was made. */
async function fill(token: string): Promise<string[]> {
  const made: string[] = []
  const post = async (path: string, body: object) => {
    const reply = await world.ok('POST', `/api/agents/scout${path}`, { token, body })
    made.push(
      ...Object.entries(reply).flatMap(([name, value]) =>
        /(^|_)id$/.test(name) && value ? [String(value)] : [],
      ),
    )
  }
  await post('/task', { message: ownersWords, async_mode: true })
  const { key } = await world.mint(token, { name: 'mcp' })
  const chats = { chat: { token }, mcp: { token: key, headers: { 'x-via-mcp': '1' } } }
  for (const [trigger, sender] of Object.entries(chats)) {
    const request = { ...sender, body: { message: privateWords } }
    // A chat answers at its end, which never comes here.
    world.ask('POST', '/api/agents/scout/chat', request).catch(() => {})
    const [turn] = await eventually(
      () => world.ok('GET', `/api/agents/scout/executions?triggered_by=${trigger}`, { token }),
      (rows) => rows.length > 0,
    )
    made.push(turn.id, turn.session_id)
    conversation = turn.session_id
  }
  await post('/fan-out', { tasks: [{ message: ownersWords }], async_mode: true })
  await post('/loops', { message: ownersWords, max_runs: 2 })
  await post('/schedules', { name: agentsWords, message: agentsWords, cron_expression: '0 3 * * *' })
  await post('/reminders', { message: ownersWords, delay_seconds: 7200 })
  return [...new Set(made)]
}

/** The path of this endpoint for the attacked agent and each of its objects. */
function pathsOf({ path }: Endpoint): string[] {
  const named = path.replace('{name}', 'scout').replace('{target}', 'scout')
  return (named.includes('{') ? ids : ['']).map((id) => named.replaceAll(/\{[^}]+\}/g, id))
}

async function wordsTaken(token: string, forbidden: string[]): Promise<string[]> {
  const found: string[] = []
  for (const endpoint of endpoints) {
    // Streams show the same as the logs, and stay open for those who may read them.
    if (endpoint.method !== 'GET' || endpoint.access.who === 'internal' || endpoint.path.endsWith('/stream'))
      continue
    for (const path of pathsOf(endpoint)) {
      const { status, text } = await world.ask('GET', path, { token })
      for (const words of forbidden)
        if (text.includes(words)) found.push(`${path}: ${status} ${text.slice(0, 200)}`)
    }
  }
  return found
}

test('the owner finds all words, so that the search is meaningful', async () => {
  assert.notDeepEqual(await wordsTaken(owner, [privateWords]), [])
  const found = await wordsTaken(owner, [ownersWords, agentsWords])
  assert.ok(
    found.some((each) => each.includes('/executions')),
    found.join('\n'),
  )
  assert.ok(
    found.some((each) => each.includes('/schedules')),
    found.join('\n'),
  )
})

for (const kind of [
  'session',
  'user key',
  "agent's key",
  'run for its owner',
  'run for a visitor',
  'ended run',
])
  test(`0 words of the agent for its neighbour: ${kind}`, async () => {
    const token = foreign[kind] ?? assert.fail()
    assert.deepEqual(await wordsTaken(token, [ownersWords, privateWords, visitorsWords, agentsWords]), [])
    for (const endpoint of endpoints) {
      if (endpoint.method === 'GET' || !endpoint.path.startsWith('/api/agents/{name}')) continue
      for (const path of pathsOf(endpoint)) {
        const { status, text } = await world.ask(endpoint.method, path, { token, body: {} })
        assert.ok(status >= 400, `${endpoint.method} ${path}: ${text}`)
      }
    }
  })

for (const kind of ['run for a reader', 'run for a sharer', 'run for a visitor', 'run for another visitor'])
  test(`0 words of others in the same agent: ${kind}`, async () => {
    const { key, reads } = inside[kind] ?? assert.fail()
    const all = [ownersWords, privateWords, visitorsWords, agentsWords, `"session_id":"${conversation}"`]
    const found = await wordsTaken(
      key,
      all.filter((words) => !reads.includes(words)),
    )
    assert.deepEqual(found, [])
  })

for (const kind of ['run for a reader', 'run for a sharer', 'run for a visitor', 'run for another visitor'])
  test(`no message in the owner's conversation: ${kind}`, () =>
    assert.equal(injections[kind], 'session_not_found'))

test('nothing was changed, and the keys still worked', async () => {
  const token = owner
  assert.equal((await world.ok('GET', '/api/agents/scout/schedules', { token })).length, 1)
  assert.equal((await world.ok('GET', '/api/agents/scout/executions?limit=100', { token })).length >= 4, true)
  for (const [kind, { key }] of Object.entries(inside))
    assert.equal((await world.ask('GET', '/api/agents/scout', { token: key })).status, 200, kind)
  for (const kind of ['run for its owner', 'run for a visitor']) {
    const reply = await world.ask('GET', '/api/agents/other', { token: foreign[kind] })
    assert.equal(reply.status, 200, `${kind}: ${reply.text}`)
  }
})
