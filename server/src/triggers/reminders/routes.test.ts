import assert from 'node:assert/strict'
import { test } from 'node:test'
import { agentKey } from '../../test/agents-platform.ts'
import { openTestDatabase } from '../../test/dialects.ts'
import { as, routesApp } from '../../test/routes-app.ts'
import { person } from '../../test/run-platform.ts'
import { reminderRoutes } from './index.ts'
import { startReminderPlatform } from './test/reminder-platform.ts'

const callers = {
  scout: { caller: agentKey('a1'), relation: 'self' as const },
  shared: { caller: person(), relation: 'shared' as const },
}
const body = { message: 'look', delay_seconds: 60 }

async function start() {
  const on = await startReminderPlatform({ db: await openTestDatabase() })
  const app = routesApp(reminderRoutes(on.reminders), callers)
  return async (method: 'GET' | 'POST', path: string, payload?: object, who = 'scout') => {
    const url = `/api/agents/scout/reminders${path}`
    const reply = await app.inject({ method, url, headers: as(who), ...(payload ? { payload } : {}) })
    return { status: reply.statusCode, headers: reply.headers, json: reply.json() }
  }
}

test('201 with the reminder; a repetition while it is pending returns the same', async () => {
  const ask = await start()
  const made = await ask('POST', '', body)
  assert.deepEqual([made.status, made.json.status, made.json.agent_name], [201, 'pending', 'scout'])
  const again = await ask('POST', '', body)
  assert.deepEqual([again.status, again.json, again.headers['x-idempotent-replay']], [201, made.json, 'true'])
  assert.deepEqual((await ask('GET', '', undefined, 'shared')).json, [made.json])
})

test('200 for a repeated cancellation; 404 for an unknown reminder', async () => {
  const ask = await start()
  const { id } = (await ask('POST', '', body)).json
  for (let time = 0; time < 2; time += 1) {
    const cancelled = await ask('POST', `/${id}/cancel`)
    assert.deepEqual([cancelled.status, cancelled.json.status], [200, 'cancelled'])
  }
  assert.deepEqual((await ask('POST', '/unknown/cancel')).json.error, 'not_found')
  assert.equal((await ask('GET', '?status=all')).json.length, 1)
})

test('403 owner_required for a person the agent is shared with; 422 for invalid times', async () => {
  const ask = await start()
  assert.equal((await ask('POST', '', body, 'shared')).json.error, 'owner_required')
  for (const over of [{ delay_seconds: 59 }, { delay_seconds: null }, { fire_at: '2026-01-05T09:00:00Z' }]) {
    const reply = await ask('POST', '', { ...body, ...over })
    assert.deepEqual([reply.status, reply.json.error], [422, 'validation_error'])
  }
})
