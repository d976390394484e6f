import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readConfig } from './config.ts'

const variables = { AGENT_NAME: 'a', ROOST_LINK_URL: 'ws://host:8001/link', ROOST_AGENT_KEY: 'k' }

test('a missing or invalid variable is named in the error', () => {
  const wrong: [object, RegExp][] = [
    [{ AGENT_NAME: '' }, /AGENT_NAME/],
    [{ ROOST_AGENT_KEY: undefined }, /ROOST_AGENT_KEY/],
    [{ ROOST_LINK_URL: 'http://host' }, /ROOST_LINK_URL/],
    [{ AGENT_RUNTIME: 'other' }, /AGENT_RUNTIME/],
    [{ ROOST_START_NUMBER: '-1' }, /ROOST_START_NUMBER/],
    [{ ROOST_START_NUMBER: '1', ROOST_START_WAIT_SECONDS: 'x' }, /ROOST_START_WAIT_SECONDS/],
    [{ ROOST_GATEWAY_SOCKET: '/s' }, /ROOST_GATEWAY_PORT/],
    [{ ROOST_GATEWAY_SOCKET: '/s', ROOST_GATEWAY_PORT: '99999' }, /ROOST_GATEWAY_PORT/],
  ]
  for (const [change, message] of wrong) assert.throws(() => readConfig({ ...variables, ...change }), message)
})

test('optional variables have defaults', () => {
  const config = readConfig(variables)
  assert.equal(config.runtime, 'claude-code')
  assert.equal(config.home, '/home/developer')
  assert.equal(config.mcpUrl, null)
  assert.equal(config.gateway, null)
})
