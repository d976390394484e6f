import assert from 'node:assert/strict'
import { test } from 'node:test'
import { inspect } from 'node:util'
import { ConfigError, configReference, parseConfig } from './config.ts'
import { innerNetworks4, innerNetworks6 } from './kit/addresses.ts'

test('an empty environment gives the defaults', () => {
  const config = parseConfig({})
  assert.equal(config.host, '127.0.0.1')
  assert.deepEqual([config.port, config.internalPort, config.mcpPort], [8000, 8001, 8080])
  assert.equal(config.baseUrl, 'http://localhost:8000')
  assert.match(config.databaseUrl.reveal(), /^sqlite:\/.*\/data\/roost\.db$/)
  assert.equal(config.redisUrl, null)
  assert.equal(config.encryptionKey, null)
  assert.equal(config.containersUrl, 'docker:')
  assert.equal(config.agentTmpBytes, 512 * 1024 * 1024)
  assert.deepEqual(config.sshPorts, { first: 2222, last: 2262 })
  assert.deepEqual([config.trustedProxies, config.entitlements], [[], []])
  assert.deepEqual([config.queueDepth, config.stallSeconds, config.chatIdleSeconds], [50, 900, 600])
  assert.deepEqual([config.webhookRateLimit, config.webhookIpRateLimit], [10, 60])
  assert.equal(config.dispatchBreakerEnabled, false)
  assert.equal(config.installSource, 'unknown')
})

test('an empty value counts as not set', () => {
  assert.equal(parseConfig({ ROOST_PORT: ' ', ROOST_REDIS_URL: '' }).port, 8000)
})

test('the base address follows the port unless it is set', () => {
  assert.equal(parseConfig({ ROOST_PORT: '9000' }).baseUrl, 'http://localhost:9000')
  assert.equal(parseConfig({ ROOST_BASE_URL: 'https://roost.example/' }).baseUrl, 'https://roost.example')
})

test('three variables are also read with the prefix', () => {
  assert.equal(parseConfig({ ROOST_WEBHOOK_RATE_LIMIT: '7' }).webhookRateLimit, 7)
  assert.equal(parseConfig({ WEBHOOK_IP_RATE_LIMIT: '7' }).webhookIpRateLimit, 7)
  assert.equal(parseConfig({ ROOST_DISPATCH_BREAKER_ENABLED: 'on' }).dispatchBreakerEnabled, true)
})

test('agents have one image or one for each runtime', () => {
  const list = 'claude-code=a@sha256:1,gemini-cli=b,codex=c'
  assert.equal(parseConfig({ ROOST_AGENT_IMAGE: list }).agentImage, list)
  assert.throws(() => parseConfig({ ROOST_AGENT_IMAGE: 'claude-code=a' }), /ROOST_AGENT_IMAGE .*codex/)
})

test('lists are split at commas', () => {
  const config = parseConfig({
    ROOST_TRUSTED_PROXIES: '10.0.0.0/8, ::1',
    ROOST_ENTITLEMENTS: 'runnable_skills',
  })
  assert.deepEqual(config.trustedProxies, ['10.0.0.0/8', '::1'])
  assert.deepEqual(config.entitlements, ['runnable_skills'])
})

test('further closed networks of Kubernetes are canonical networks', () => {
  const closed = (text: string) =>
    parseConfig({ ROOST_KUBERNETES_CLOSED_NETWORKS: text }).kubernetesClosedNetworks
  assert.deepEqual(closed(''), [])
  assert.deepEqual(closed('11.0.0.0/8, 2600:1F00:0::/24,25.1.2.3/32'), [
    ...['11.0.0.0/8', '2600:1f00::/24', '25.1.2.3/32'],
  ])
  // The fixed ones follow the same rule, except for the one that policies leave out.
  const fixed = [...innerNetworks4, ...innerNetworks6].filter((network) => network !== '::ffff:0:0/96')
  assert.deepEqual(closed(fixed.join(',')), fixed)
  for (const invalid of [
    ...['11.1.0.0/8', '11.0.0.0', '11.0.0.0/33', '0.0.0.0/0', '11.0.0.0/08', 'pods/8', '11.0.0.0/8/9'],
    ...['2600:1::/24', '2600::/129', '::/0', '::ffff:11.0.0.0/104', 'fe80::%eth0/64', '2600::1::/64'],
  ])
    assert.throws(
      () => closed(invalid),
      /ROOST_KUBERNETES_CLOSED_NETWORKS must contain networks like 100\.64\.0\.0\/10/,
      invalid,
    )
})

test('agents on Kubernetes have a limit of disk unless it is 0', () => {
  const limit = (text: string) => parseConfig({ ROOST_KUBERNETES_DISK_LIMIT: text }).kubernetesDiskLimit
  assert.deepEqual(['', '20Gi', '0', '0Gi'].map(limit), ['10Gi', '20Gi', null, null])
  assert.throws(() => limit('much'), /ROOST_KUBERNETES_DISK_LIMIT must be an amount/)
})

test('the error names every invalid variable and contains no value', () => {
  const invalid = {
    ROOST_PORT: '99999',
    ROOST_DATABASE_URL: 'mysql://root:hunter2@db/x',
    ROOST_ENCRYPTION_KEY: 'abc',
    ROOST_TRUSTED_PROXIES: '10.0.0.0/33',
    ROOST_SSH_PORT_RANGE: '30-20',
    ROOST_VOIP_ENABLED: 'maybe',
    ROOST_LOG_LEVEL: 'loud',
    ROOST_AGENT_TMP_SIZE: 'big',
    ROOST_BASE_URL: 'ftp://x',
    ROOST_WEBHOOK_RATE_LIMIT: '0',
  }
  assert.throws(
    () => parseConfig(invalid),
    (error) => {
      assert.ok(error instanceof ConfigError)
      assert.deepEqual(error.problems.map(({ name }) => name).toSorted(), Object.keys(invalid).toSorted())
      assert.match(error.message, /ROOST_PORT must be an integer from 0 to 65535/)
      assert.doesNotMatch(error.message, /hunter2|99999/)
      return true
    },
  )
})

test('secrets do not show when the configuration is printed', () => {
  const config = parseConfig({
    ROOST_DATABASE_URL: 'postgres://u:hunter2@db/x',
    ANTHROPIC_API_KEY: 'sk-ant-hunter2',
    ROOST_ENCRYPTION_KEY: 'ab'.repeat(32),
  })
  assert.equal(config.anthropicApiKey?.reveal(), 'sk-ant-hunter2')
  const printed = `${JSON.stringify(config)}${inspect(config, { depth: 5 })}`
  assert.doesNotMatch(printed, /hunter2|abab/)
  assert.ok(Object.isFrozen(config))
})

test('the reference has a row for every variable', () => {
  const page = configReference()
  assert.match(page, /\| `ROOST_DATABASE_URL` \| `sqlite:` in the data folder \|/)
  assert.match(page, /\| `WEBHOOK_RATE_LIMIT`, `ROOST_WEBHOOK_RATE_LIMIT` \| `10` \|/)
})
