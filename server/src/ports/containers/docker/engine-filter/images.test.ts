import assert from 'node:assert/strict'
import { test } from 'node:test'
import { agentImageRule } from './images.ts'

const digest = `@sha256:${'0'.repeat(64)}`

test('only tags of the own repository are images of agents', () => {
  const isAllowed = agentImageRule('roost-agent', null)
  assert.ok(isAllowed('roost-agent:codex-0123abcd'))
  for (const image of [
    'roost-agent',
    'roost-agent:',
    `roost-agent:x${digest}`,
    `roost-agent${digest}`,
    'evil:x',
  ])
    assert.equal(isAllowed(image), false, image)
})

test('of named images only the name of the runtime varies', () => {
  const isAllowed = agentImageRule('roost-agent', 'host:5000/agents-{runtime}:1')
  assert.ok(isAllowed('host:5000/agents-claude-code:1'))
  for (const image of ['host:5000/agents-:1', 'host:5000/agents-x:2@y:1', 'host:5000/agents-x/y:1', 'x:1'])
    assert.equal(isAllowed(image), false, image)
  const listed = agentImageRule('roost-agent', `claude-code=host/a${digest},codex=host/b:1`)
  assert.deepEqual(
    [listed(`host/a${digest}`), listed('host/b:1'), listed('host/a'), listed('')],
    [true, true, false, false],
  )
  const fixed = agentImageRule('roost-agent', `host/agents${digest}`)
  assert.deepEqual([fixed(`host/agents${digest}`), fixed('host/agents')], [true, false])
})
