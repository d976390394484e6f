/** Requests of agents to people: through the API and through the workspace file, with and without operator-resume. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { openLive } from './live.ts'
import { eventually, type Loose, type Platform, startPlatform } from './platform.ts'
import { agentKeyOf, createAgent, docker } from './steps.ts'

const agent = 'qa-asker'
const queue = '/api/operator-queue'
const file = '/home/developer/.roost/operator-queue.json'
let platform: Platform
let agentKey: string
before(async () => {
  platform = await startPlatform()
  await createAgent(platform, agent)
  agentKey = await agentKeyOf(agent)
})
after(async () => {
  await platform?.[Symbol.asyncDispose]()
})

const ask = (body: object) =>
  platform.request('POST', `/api/agents/${agent}/operator-queue`, body, { token: agentKey })
const respond = (id: string, body: object) => platform.request('POST', `${queue}/${id}/respond`, body)
const items = async (query = ''): Promise<Loose[]> =>
  (await platform.request('GET', `${queue}?agent_name=${agent}${query}`)).json.items
const responses = async (): Promise<Loose[]> => {
  const runs = await platform.request('GET', `/api/agents/${agent}/executions?triggered_by=operator_response`)
  return runs.json
}
/** Writes the file as the agent's own tools do. */
const write = (text: string) =>
  docker(
    'exec',
    '-u',
    'developer',
    `agent-${agent}`,
    'sh',
    '-c',
    `mkdir -p ~/.roost && printf %s '${text}' > ${file}`,
  )
const readRequests = async (): Promise<Loose> =>
  JSON.parse(await docker('exec', `agent-${agent}`, 'cat', file))

describe('through the API', () => {
  test('an ask is announced on sockets, answered once, and acknowledged when the agent reads it', async () => {
    const ticket = (await platform.request('POST', '/api/ws/ticket')).json.ticket
    const live = openLive(platform, `/ws?ticket=${ticket}`)
    await live.next('connected')
    const created = await ask({
      request_id: 'a1',
      title: 'Deploy?',
      type: 'approval',
      options: ['yes', 'no'],
    })
    assert.equal(created.status, 201, created.text)
    const announced = await live.next('operator_queue_new')
    assert.deepEqual(
      [announced.item_id, announced.item_type, announced.title, announced.data.agent_name],
      [created.json.id, 'approval', 'Deploy?', agent],
    )
    assert.equal((await ask({ request_id: 'a1', title: 'Deploy?' })).status, 200)
    assert.equal((await respond(created.json.id, { response: 'perhaps' })).json.error, 'option_not_offered')
    const answers = await Promise.all(
      ['yes', 'no', 'yes'].map((response) => respond(created.json.id, { response })),
    )
    assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 409, 409])
    assert.equal((await live.next('operator_queue_responded')).status, 'responded')
    const read = await platform.request('GET', `/api/agents/${agent}/operator-queue/a1`, undefined, {
      token: agentKey,
    })
    assert.equal(read.json.status, 'acknowledged')
    assert.equal((await live.next('operator_queue_acknowledged')).item_id, created.json.id)
    assert.deepEqual(await responses(), [])
    live.end()
  })

  test('with operator-resume the answer starts one run that contains question and answer', async () => {
    assert.equal(
      (await platform.request('PUT', `/api/agents/${agent}/operator-resume`, { enabled: true })).status,
      200,
    )
    const { json } = await ask({ request_id: 'a2', title: 'Which colour?' })
    await respond(json.id, { response: 'green', response_text: '[[reply:painted]]' })
    const [run, ...others] = await eventually(responses, (runs) => runs[0]?.status === 'success')
    assert.equal(others.length, 0)
    for (const text of ['Which colour?', 'green']) assert.ok(run.message.includes(text), text)
    const item = await platform.request('GET', `${queue}/${json.id}`)
    assert.deepEqual([item.json.status, item.json.execution_id], ['acknowledged', run.id])
    await platform.request('PUT', `/api/agents/${agent}/operator-resume`, { enabled: false })
  })
})

describe('through the file', () => {
  const entry = {
    ...{ id: 'f1', type: 'question', status: 'pending', priority: 'high', title: 'Where to?' },
    ...{ question: 'North or south.', options: ['north', 'south'], context: { step: 3 } },
    created_at: '2026-01-01T00:00:00Z',
  }
  const fileOf = (...requests: object[]) => JSON.stringify({ $schema: 'operator-queue-v1', requests })

  test('an entry becomes an item, and the answer is written back', async () => {
    await write(fileOf(entry))
    const [item] = await eventually(
      () => items('&status=pending'),
      (found) => found.length > 0,
    )
    assert.deepEqual([item.source, item.request_id, item.context], ['file', 'f1', { step: 3 }])
    await respond(item.id, { response: 'north', response_text: 'by boat' })
    const { requests } = await eventually(
      readRequests,
      ({ requests: [first] }) => first.status === 'responded',
    )
    assert.deepEqual(
      [requests[0].response, requests[0].response_text, requests[0].title],
      ['north', 'by boat', 'Where to?'],
    )
    assert.equal(await docker('exec', `agent-${agent}`, 'stat', '-c', '%U', file), 'developer')
  })

  test('a changed entry must be acknowledged; an unreadable file stays unchanged and raises one alert', async () => {
    await write(fileOf({ ...entry, id: 'f2' }))
    const [item] = await eventually(
      () => items('&status=pending'),
      (found) => found.length > 0,
    )
    await write(fileOf({ ...entry, id: 'f2', title: 'Where to, really?' }))
    await eventually(
      () => platform.request('GET', `${queue}/${item.id}`),
      ({ json }) => json.diverged,
    )
    assert.equal((await respond(item.id, { response: 'north' })).json.error, 'item_diverged')
    await write('{"requests": [')
    const [alert] = await eventually(
      () => items('&type=alert&status=pending'),
      (found) => found.length > 0,
    )
    assert.equal(alert.kind, 'workspace_unreadable')
    assert.equal(await docker('exec', `agent-${agent}`, 'cat', file), '{"requests": [')
    const answered = await respond(item.id, { response: 'south', acknowledge_divergence: true })
    assert.deepEqual([answered.status, answered.json.title], [200, 'Where to, really?'])
    await write(fileOf({ ...entry, id: 'f2', title: 'Where to, really?' }))
    await eventually(readRequests, ({ requests: [first] }) => first.response === 'south')
    await eventually(
      () => items('&type=alert&status=pending'),
      (found) => found.length === 0,
    )
  })
})
