import assert from 'node:assert/strict'
import { test } from 'node:test'
import { silentLog } from '../../ports/log.ts'
import { agentKey, startAgentsPlatform } from '../../test/agents-platform.ts'
import { openTestDatabase } from '../../test/dialects.ts'
import { as, routesApp } from '../../test/routes-app.ts'
import { person } from '../../test/run-platform.ts'
import { createSubscriptions, subscriptionRoutes } from './index.ts'

const callers = {
  olga: { caller: person({ id: 'u-owner', username: 'olga' }), relation: 'owner' as const },
  scout: { caller: agentKey('a1'), relation: 'self' as const },
  shared: { caller: person(), relation: 'shared' as const },
}
const anything = { event_type: 'news', target_message: 'read {{payload.text}}' }

async function start() {
  const platform = await startAgentsPlatform({ db: await openTestDatabase() })
  const subscriptions = createSubscriptions({ ...platform, log: silentLog, secrets: async () => [] })
  const app = routesApp(subscriptionRoutes(subscriptions), callers)
  return async (method: 'GET' | 'POST' | 'PUT' | 'DELETE', url: string, payload?: object, who = 'olga') => {
    const reply = await app.inject({ method, url, headers: as(who), ...(payload ? { payload } : {}) })
    return { status: reply.statusCode, json: reply.json() }
  }
}

test('a subscription is created, read, changed, listed and deleted', async () => {
  const ask = await start()
  const made = await ask('POST', '/api/agents/scout/event-subscriptions', anything, 'scout')
  assert.deepEqual([made.status, made.json.enabled, made.json.source_agent], [201, true, null])
  const url = `/api/event-subscriptions/${made.json.id}`
  assert.deepEqual((await ask('GET', url)).json, made.json)
  assert.equal((await ask('PUT', url, { enabled: false })).json.enabled, false)
  const listed = await ask('GET', '/api/agents/scout/event-subscriptions?direction=both')
  assert.deepEqual([listed.json.count, listed.json.subscriptions.length], [1, 1])
  assert.deepEqual((await ask('DELETE', url)).json, { status: 'deleted', subscription_id: made.json.id })
  assert.deepEqual((await ask('GET', url)).json.error, 'not_found')
})

test('events are returned with their deliveries, and listed', async () => {
  const ask = await start()
  await ask('POST', '/api/agents/scout/event-subscriptions', anything)
  const event = await ask('POST', '/api/events', { event_type: 'news', payload: { text: 'hi' } })
  assert.deepEqual([event.status, event.json.source_agent, event.json.executions.length], [201, 'olga', 1])
  const own = await ask('POST', '/api/agents/scout/emit-event', { event_type: 'other' }, 'scout')
  assert.deepEqual([own.status, own.json.source_agent, own.json.payload], [201, 'scout', null])
  assert.equal((await ask('GET', '/api/agents/scout/events')).json.count, 1)
  assert.deepEqual((await ask('GET', '/api/events?event_type=news')).json, { count: 1, events: [event.json] })
})

test('403 owner_required for a person the agent is shared with; 422 for an invalid event', async () => {
  const ask = await start()
  const refused = await ask('POST', '/api/agents/scout/event-subscriptions', anything, 'shared')
  assert.deepEqual([refused.status, refused.json.error], [403, 'owner_required'])
  const cases: [object, string][] = [
    [{ event_type: 'a-b' }, 'invalid_event_type'],
    [{ event_type: 'agent.task.failed' }, 'reserved_event_type'],
    [{ event_type: 'a', payload: [1] }, 'validation_error'],
    [{ event_type: 'a', payload: { x: 'ä'.repeat(32 * 1024) } }, 'validation_error'],
  ]
  for (const [body, error] of cases) {
    const reply = await ask('POST', '/api/events', body)
    assert.deepEqual([reply.status, reply.json.error], [422, error])
  }
})
