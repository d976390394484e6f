import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type ContainerOptions, containerSpec, type SpecInput } from './spec.ts'

const input: SpecInput = {
  agent: {
    id: 'id1',
    name: 'renamed',
    type: 'business-assistant',
    volume_base: 'first-a1b2c3',
    port: 2225,
    runtime: 'claude-code',
    runtime_model: null,
    template_model: 'sonnet',
    cpu: '8',
    memory: '4g',
    full_capabilities: false,
    created: '2030-01-01T00:00:00.000Z',
    template: 'local:business-assistant',
    github_repo: null,
    source_branch: null,
    egress_mode: 'off',
  },
  image: { image: 'roost-agent:x', version: 'abc' },
  agentKey: 'svc_mcp_key',
  template: { name: 'business-assistant' },
  git: null,
  folders: [],
  containerRuntime: null,
}
const options: ContainerOptions = {
  network: { hostAddress: { type: 'tcp', address: '172.30.0.1' }, platformUrlHost: '172.30.0.1' },
  internalPort: 8001,
  platformAddresses: [':8001'],
  tmpBytes: 512,
  sshBind: '127.0.0.1',
  containerPrefix: 'house-',
  hostCpus: 4,
}

test('an OCI runtime is requested only if one is set', () => {
  assert.equal('runtime' in containerSpec(input, options), false)
  assert.equal(containerSpec({ ...input, containerRuntime: 'runsc' }, options).runtime, 'runsc')
})

test('folders of other agents are mounted under their names', () => {
  const folders = [
    { sourceId: 's1', name: 'ada', volume: 'agent-ada-000000-shared' },
    { sourceId: 's2', name: 'bob', volume: 'agent-old-111111-shared' },
  ]
  const consumed = containerSpec({ ...input, folders }, options).mounts.filter(({ target }) =>
    target.startsWith('/home/developer/shared-in'),
  )
  assert.deepEqual(consumed, [
    { type: 'empty', target: '/home/developer/shared-in' },
    ...folders.map(({ name, volume }) => ({
      type: 'volume',
      volume,
      target: `/home/developer/shared-in/${name}`,
    })),
  ])
})

test('a container has the prefixed name, its own volumes and key, and no provider key', () => {
  const spec = containerSpec(input, options)
  assert.equal(spec.name, 'house-renamed')
  assert.deepEqual(spec.mounts, [
    { type: 'volume', volume: 'agent-first-a1b2c3-workspace', target: '/home/developer' },
    { type: 'volume', volume: 'agent-first-a1b2c3-shared', target: '/home/developer/shared-out' },
    { type: 'volume', volume: 'agent-first-a1b2c3-private', target: '/var/lib/roost' },
    { type: 'empty', target: '/home/developer/shared-in' },
  ])
  assert.deepEqual(spec.env, {
    AGENT_NAME: 'renamed',
    AGENT_TYPE: 'business-assistant',
    AGENT_RUNTIME: 'claude-code',
    AGENT_RUNTIME_MODEL: 'sonnet',
    TEMPLATE_NAME: 'business-assistant',
    ROOST_LINK_URL: 'ws://172.30.0.1:8001/link',
    ROOST_BROKER_URL: 'http://172.30.0.1:8001/broker',
    ROOST_MCP_URL: 'http://172.30.0.1:8001/mcp',
    ROOST_AGENT_KEY: 'svc_mcp_key',
    ROOST_IMAGE_VERSION: 'abc',
    TMPDIR: '/home/developer/.tmp',
  })
  assert.deepEqual(Object.keys(spec.labels).sort(), [
    'roost.agent-id',
    'roost.agent-name',
    'roost.agent-type',
    'roost.cpu',
    'roost.created',
    'roost.full-capabilities',
    'roost.image-version',
    'roost.memory',
    'roost.platform',
    'roost.runtime',
    'roost.ssh-port',
    'roost.template',
  ])
  assert.ok(!Object.values(spec.labels).includes('svc_mcp_key'))
})

test('CPUs are limited to those of the host; memory and processes are limited', () => {
  const spec = containerSpec(input, options)
  assert.equal(spec.cpus, 4)
  assert.equal(spec.memoryBytes, 4 * 1024 ** 3)
  assert.equal(spec.maxProcesses, 2048)
  assert.deepEqual(spec.ssh, { bind: '127.0.0.1', port: 2225 })
})

test('no SSH without a port', () => {
  assert.equal(containerSpec({ ...input, agent: { ...input.agent, port: 0 } }, options).ssh, null)
})

test('in a sandbox the platform is reached on a loopback port', () => {
  const hostAddress = { type: 'unix' as const, path: '/run/platform.sock' }
  const { env } = containerSpec(input, { ...options, network: { hostAddress, platformUrlHost: '127.0.0.1' } })
  assert.equal(env.ROOST_LINK_URL, 'ws://127.0.0.1:8001/link')
  assert.equal(env.ROOST_GATEWAY_PORT, '8001')
})

test('the first address is for every program, further ones are for programs that know several', () => {
  const platformAddresses = [':8001', ':8002', '10.0.0.6:8001', '[fd00::6]:8001']
  const { env } = containerSpec(input, { ...options, platformAddresses })
  assert.equal(env.ROOST_LINK_URL, 'ws://172.30.0.1:8001/link')
  assert.equal(env.ROOST_LINK_ADDRESSES, ':8002,10.0.0.6:8001,[fd00::6]:8001')
  const elsewhere = containerSpec(input, { ...options, platformAddresses: ['10.0.0.6:8001', ':8001'] })
  assert.equal(elsewhere.env.ROOST_LINK_URL, 'ws://10.0.0.6:8001/link')
  assert.equal(elsewhere.env.ROOST_BROKER_URL, 'http://10.0.0.6:8001/broker')
  assert.equal(elsewhere.env.ROOST_LINK_ADDRESSES, ':8001')
})

test('an IPv6 gateway is bracketed in URLs', () => {
  const network = { ...options.network, platformUrlHost: 'fd00::1' }
  assert.equal(containerSpec(input, { ...options, network }).env.ROOST_LINK_URL, 'ws://[fd00::1]:8001/link')
})
