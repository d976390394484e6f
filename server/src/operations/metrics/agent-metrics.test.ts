import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openTestDatabase } from '../../test/dialects.ts'
import { type MessagesWorld, openMessagesWorld } from '../test/messages-world.ts'

const path = '/api/agents/scout/metrics'
const template = `name: own
display_name: Own
description: mine
metrics:
  - {name: open, type: gauge, label: Open tickets, unit: tickets, warning_threshold: 5}
  - {name: mood, type: status, values: [{value: fine, color: green}]}
`
const unknown = { value: null, state: 'unknown' }
const open = { name: 'open', type: 'gauge', label: 'Open tickets', unit: 'tickets' }
const mood = { name: 'mood', type: 'status', label: 'mood', unit: null }

function says(world: MessagesWorld, metrics_json: string | null): void {
  world.link.link(world.scout.id, {
    info: () => ({
      template_yaml: template,
      metrics_json,
      runtime_version: null,
      workspace_initialized: true,
    }),
  })
}

test('declared metrics have the values of the workspace and the time of the read', async () => {
  await using world = await openMessagesWorld(openTestDatabase)
  says(world, '{"open": 7, "mood": "fine", "more": 1}')
  assert.deepEqual(await world.get(path), {
    agent_name: 'scout',
    metrics: [
      { ...open, value: 7, state: 'warning' },
      { ...mood, value: 'fine', state: 'ok' },
    ],
    read_at: world.clock.now().toISOString(),
  })
  says(world, '{"open": 1}')
  assert.deepEqual((await world.get(path)).metrics[1], { ...mood, ...unknown })
})

test('without a file, or with one that is not a map, metrics have neither values nor a time', async () => {
  await using world = await openMessagesWorld(openTestDatabase)
  for (const text of [null, '', 'no json', '[1]']) {
    says(world, text)
    assert.deepEqual(await world.get(path), {
      agent_name: 'scout',
      metrics: [
        { ...open, ...unknown },
        { ...mood, ...unknown },
      ],
      read_at: null,
    })
  }
})

test('200 for an agent that does not reply or run, and for a template without metrics', async () => {
  await using world = await openMessagesWorld(openTestDatabase)
  const nothing = { agent_name: 'scout', metrics: [], read_at: null }
  assert.deepEqual(await world.get(path), nothing)
  says(world, '{"open": 7}')
  await world.request(world.ann.session, 'POST', '/api/agents/scout/stop')
  assert.deepEqual(await world.get(path), nothing)
  assert.equal((await world.request(world.ben.session, 'GET', path)).status, 404)
  assert.equal((await world.request(world.scout.key, 'GET', path)).status, 200)
})
