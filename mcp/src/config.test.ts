import assert from 'node:assert/strict'
import { test } from 'node:test'
import { McpConfigError, parseMcpConfig } from './config.ts'

const parse = (env: NodeJS.ProcessEnv) =>
  parseMcpConfig({ ROOST_INTERNAL_SECRET: 'secret', ...env }, '1.2.3', async () => '')

test('without addresses the server calls the listeners of this machine', async () => {
  const { apiUrl, internalUrl } = await parse({ ROOST_HOST: '0.0.0.0', ROOST_PORT: '9000' })
  assert.deepEqual([apiUrl, internalUrl], ['http://127.0.0.1:9000', 'http://127.0.0.1:8001'])
})

test('on another machine it calls the named listeners', async () => {
  const { apiUrl, internalUrl } = await parse({
    ROOST_API_URL: 'http://roost-api:8000/',
    ROOST_CONTROL_URL: 'http://roost-control:8002',
  })
  assert.deepEqual([apiUrl, internalUrl], ['http://roost-api:8000', 'http://roost-control:8002'])
})

test('further host names are split at commas', async () => {
  const { hostNames } = await parse({ ROOST_MCP_HOST_NAMES: 'roost-api, roost-internal.platform.svc' })
  assert.deepEqual(hostNames, ['roost-api', 'roost-internal.platform.svc'])
  assert.deepEqual((await parse({})).hostNames, [])
})

test('an invalid address is refused by the name of its variable', async () => {
  for (const name of ['ROOST_API_URL', 'ROOST_CONTROL_URL']) {
    const refused = (error: unknown) => error instanceof McpConfigError && error.message.startsWith(name)
    await assert.rejects(parse({ [name]: 'roost-api:8000' }), refused)
  }
})
