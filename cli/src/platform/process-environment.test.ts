import assert from 'node:assert/strict'
import { test } from 'node:test'
import { processEnvironment } from './process-environment.ts'

const secret = { ROOST_INTERNAL_SECRET: 'the-internal-secret-of-this-test' }
const system = {
  PATH: '/bin',
  HOME: '/root',
  TZ: 'UTC',
  LC_ALL: 'C',
  PGPASSFILE: '/pgpass',
  NODE_EXTRA_CA_CERTS: '/ca',
}
const keys = {
  ANTHROPIC_API_KEY: 'a',
  GEMINI_API_KEY: 'b',
  OPENAI_API_KEY: 'c',
  GITHUB_PAT: 'd',
  ROOST_ENCRYPTION_KEY: 'f'.repeat(64),
  ROOST_MAIL_URL: 'smtp://u:p@mail',
  ROOST_METRICS_TOKEN: 'e',
  AWS_SECRET_ACCESS_KEY: 'g',
}

test('the scheduler and the MCP server get the variables that they read, and no key of a provider', async () => {
  const scheduler = {
    ROOST_CONTROL_URL: 'http://roost-control:8002',
    ROOST_DATA_DIR: '/srv/data',
    ROOST_DATABASE_URL: 'postgres://u:p@db/roost',
    ROOST_INTERNAL_PORT: '8001',
    ROOST_LOG_LEVEL: 'debug',
    ROOST_UPGRADE_AT_START: 'false',
  }
  const mcp = {
    ROOST_API_URL: 'http://roost-api:8000',
    ROOST_CONTROL_URL: 'http://roost-control:8002',
    ROOST_BASE_URL: 'https://roost.example.com',
    ROOST_HOST: '0.0.0.0',
    ROOST_PORT: '8000',
    ROOST_INTERNAL_PORT: '8001',
    ROOST_MCP_HOST: '127.0.0.1',
    ROOST_MCP_HOST_NAMES: 'roost.internal',
    ROOST_MCP_PORT: '8080',
    ROOST_MCP_CHAT_TIMEOUT_MS: '1000',
  }
  const env = { ...system, ...keys, ...scheduler, ...mcp, ...secret }
  assert.deepEqual(await processEnvironment('scheduler', env), { ...system, ...scheduler, ...secret })
  assert.deepEqual(await processEnvironment('mcp', env), { ...system, ...mcp, ...secret })
})

test('the secret is derived from the encryption key, which is not passed on', async () => {
  const env = await processEnvironment('mcp', { ROOST_ENCRYPTION_KEY: keys.ROOST_ENCRYPTION_KEY })
  assert.match(env.ROOST_INTERNAL_SECRET ?? '', /^svc_internal_[0-9a-f]{64}$/)
  assert.deepEqual(Object.keys(env), ['ROOST_INTERNAL_SECRET'])
})
