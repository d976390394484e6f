import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { innerNetworks4, innerNetworks6, isInnerAddress } from '../../../kit/addresses.ts'
import { createTestCertificates } from '../../../test/certificates.ts'
import { createTestClock } from '../../../test/clock.ts'
import { hasFault, specOf, until } from '../test/harness.ts'
import { createKubernetesContainers, type KubernetesSettings } from './kubernetes.ts'
import { networkPolicy } from './policies.ts'
import { testSettings } from './test/settings.ts'
import { openTestApi } from './test/test-api.ts'

const certificate = createTestCertificates()('api')
const opened: { close(): Promise<void> }[] = []
after(async () => {
  for (const each of opened) await each.close()
})

const rules = {
  platformPorts: [8001],
  platformHosts: [],
  opened: [{ address: '10.9.0.0', prefix: 16, port: 5432 }],
}

/** `codes`: exit codes of the two pods of a probe, as a node reports them. */
async function world(
  settings: Partial<KubernetesSettings>,
  codes: { free: number; denied: number },
  lookup: (host: string) => Promise<string[]> = async () => ['10.1.2.3'],
) {
  const server = await openTestApi(certificate)
  const clock = createTestClock()
  const containers = createKubernetesContainers(server.connection, {
    ...{ install: 'one', clock, namespace: null },
    settings: { ...testSettings, platformHost: 'roost.example', probeImage: 'probe:1', ...settings },
    lookup,
  })
  const close = async () => {
    await containers.close()
    await server.close()
  }
  opened.push({ close })
  server.intercept(({ method, path }) => {
    if (method === 'GET' && path.endsWith('/pods'))
      for (const { metadata, status } of server.objects('pods')) {
        if (status !== undefined) continue
        const exitCode = metadata.name.endsWith('-free') ? codes.free : codes.denied
        const state = { terminated: { exitCode } }
        server.setPodStatus(metadata.name, { phase: 'Failed', containerStatuses: [{ name: 'probe', state }] })
      }
    return false
  })
  return { server, clock, containers }
}

test('policies that work: closed containers are offered, and the probe leaves no pod', async () => {
  const t = await world({}, { free: 0, denied: 3 })
  assert.equal(t.containers.closing.can, false)
  await t.containers.filterNetwork(rules)
  await until(async () => t.containers.closing.can)
  assert.deepEqual(t.containers.networkFilter, { isActive: true, problem: null })
  assert.deepEqual(await t.containers.ensureClosedNetwork(), {
    hostAddress: { type: 'any' },
    platformUrlHost: 'roost.example',
  })
  await t.containers.create(specOf('image', 'stay', { isClosed: true }))
  await until(async () =>
    t.server.objects('pods').every(({ metadata }) => metadata.deletionTimestamp !== undefined),
  )
})

test('policies that are stored without effect: closed containers are refused, and the reason is shown', async () => {
  const table: [{ free: number; denied: number }, RegExp][] = [
    [{ free: 0, denied: 0 }, /does not enforce them/],
    [{ free: 4, denied: 3 }, /pods do not reach the platform at 10\.1\.2\.3:8001/],
  ]
  for (const [codes, reason] of table) {
    const t = await world({}, codes)
    await t.containers.filterNetwork(rules)
    await assert.rejects(t.containers.ensureClosedNetwork(), hasFault('engine_fault'))
    assert.equal(t.containers.closing.can, false)
    assert.match(t.containers.closing.notes.join(' '), reason)
    assert.match(t.containers.networkFilter.problem ?? '', reason)
    assert.ok(t.containers.isolation.weaker.some((sentence) => reason.test(sentence)))
    await assert.rejects(
      t.containers.create(specOf('image', 'stay', { isClosed: true })),
      hasFault('engine_fault'),
    )
    assert.deepEqual(await t.containers.list(), [])
  }
})

test('without an image to test with, closed containers are refused', async () => {
  const t = await world({ probeImage: null }, { free: 0, denied: 3 })
  await t.containers.filterNetwork(rules)
  await assert.rejects(t.containers.ensureClosedNetwork(), /Set ROOST_AGENT_IMAGE/)
})

test('policies are written when they change, and again after five minutes', async () => {
  const t = await world({ probeImage: null }, { free: 0, denied: 3 })
  const writes = () =>
    t.server.requests.filter(({ method, path }) => method !== 'GET' && /networkpolicies/.test(path)).length
  await t.containers.filterNetwork(rules)
  assert.equal(t.server.objects('networkpolicies').length, 3)
  const first = writes()
  for (let count = 0; count < 20; count += 1) await t.containers.filterNetwork(rules)
  assert.equal(writes(), first)
  await t.containers.filterNetwork({ ...rules, opened: [] })
  assert.equal(writes(), first + 3)
  await t.clock.advance(301)
  await t.containers.filterNetwork({ ...rules, opened: [] })
  assert.equal(writes(), first + 6)
})

test('a missing right to write policies is shown', async () => {
  const t = await world({}, { free: 0, denied: 3 })
  t.server.intercept(({ path }, response) => {
    if (!/networkpolicies/.test(path)) return false
    const message =
      'networkpolicies.networking.k8s.io "x" is forbidden: User "u" cannot update resource "networkpolicies" in API group "networking.k8s.io" in the namespace "agents"'
    response.writeHead(403).end(JSON.stringify({ message }))
    return true
  })
  await t.containers.filterNetwork(rules)
  assert.match(
    t.containers.networkFilter.problem ?? '',
    /lacks the right "update" on networkpolicies\.networking\.k8s\.io/,
  )
})

test('open agents reach the internet, the platform, name servers and opened networks; closed ones the platform', () => {
  const platform = [
    { pods: { labels: { app: 'roost' }, namespace: 'roost' }, addresses: ['10.1.2.3'], port: 8001 },
  ]
  const open = networkPolicy('open', 'one', { platform, opened: rules.opened }).spec
  const closed = networkPolicy('closed', 'one', { platform, opened: rules.opened }).spec
  const toPlatform = {
    to: [
      {
        podSelector: { matchLabels: { app: 'roost' } },
        namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'roost' } },
      },
      { ipBlock: { cidr: '10.1.2.3/32' } },
    ],
    ports: [{ protocol: 'TCP', port: 8001 }],
  }
  for (const { ingress, policyTypes } of [open, closed])
    assert.deepEqual([ingress, policyTypes], [[], ['Ingress', 'Egress']])
  assert.deepEqual(closed.egress, [toPlatform])
  assert.deepEqual(open.egress[0], toPlatform)
  const text = JSON.stringify(open.egress)
  for (const part of [
    '"cidr":"10.9.0.0/16"',
    '"port":5432',
    '"k8s-app":"kube-dns"',
    '169.254.0.0/16',
    'fc00::/7',
  ])
    assert.ok(text.includes(part), part)
  assert.ok(!text.includes('::ffff:0:0/96'), 'the API refuses it')
  assert.notDeepEqual(open.podSelector, closed.podSelector)
})

test('without any address of the platform no rule allows everything', () => {
  const platform = [{ pods: null, addresses: [], port: 8001 }]
  assert.deepEqual(networkPolicy('closed', 'one', { platform, opened: [] }).spec.egress, [])
  assert.deepEqual(networkPolicy('probe', 'one', { platform, opened: [] }).spec.egress, [])
})

test('policies close what the outbound proxy closes, and what the operator adds', () => {
  const exceptions = (closed?: string[]) => {
    const { egress } = networkPolicy('open', 'one', {
      platform: [],
      opened: [],
      ...(closed && { closed }),
    }).spec
    return JSON.parse(JSON.stringify(egress.at(-1))).to.map(
      ({ ipBlock }: { ipBlock: { cidr: string; except: string[] } }) => [ipBlock.cidr, ipBlock.except],
    )
  }
  const inner6 = innerNetworks6.filter((network) => network !== '::ffff:0:0/96')
  assert.deepEqual(exceptions(), [
    ['0.0.0.0/0', [...innerNetworks4]],
    ['::/0', inner6],
  ])
  for (const network of [...innerNetworks4, ...inner6])
    assert.ok(isInnerAddress(network.split('/')[0] ?? ''), network)
  assert.deepEqual(exceptions(['2600:1f00::/24', '11.0.0.0/8', '10.0.0.0/8']), [
    ['0.0.0.0/0', [...innerNetworks4, '11.0.0.0/8']],
    ['::/0', [...inner6, '2600:1f00::/24']],
  ])
})

test('the networks that the operator closes are in the policy of open agents', async () => {
  const t = await world({ closedNetworks: ['11.0.0.0/8'] }, { free: 0, denied: 3 })
  await t.containers.filterNetwork(rules)
  const holders = t.server
    .objects('networkpolicies')
    .filter((each) => JSON.stringify(each).includes('11.0.0.0/8'))
  assert.deepEqual(
    holders.map(({ metadata }) => metadata.name.replace(/.*-/, '')),
    ['open'],
  )
})

/** A name service that fails while `isDown`. */
function nameService(isDown = false) {
  const state = { isDown, addresses: ['10.1.2.3'] }
  const lookup = async () => {
    if (state.isDown) throw new Error('EAI_AGAIN')
    return state.addresses
  }
  return { state, lookup }
}
type World = Awaited<ReturnType<typeof world>>
const openPolicy = (t: World) =>
  JSON.stringify(t.server.objects('networkpolicies').find(({ metadata }) => metadata.name.endsWith('-open')))

test('while the name service fails, the policies keep the latest addresses of the platform', async () => {
  const { state, lookup } = nameService()
  const t = await world({}, { free: 0, denied: 3 }, lookup)
  await t.containers.filterNetwork(rules)
  await until(async () => t.containers.closing.can)
  state.isDown = true
  await t.containers.filterNetwork({ ...rules, opened: [] })
  assert.match(openPolicy(t), /10\.1\.2\.3\/32/)
  assert.doesNotMatch(openPolicy(t), /10\.9\.0\.0/, 'the rules are new')
  assert.equal(t.containers.networkFilter.problem, null)
  await t.containers.create(specOf('image', 'stay', { isClosed: true }))
  Object.assign(state, { isDown: false, addresses: [] })
  await t.containers.filterNetwork(rules)
  assert.match(openPolicy(t), /10\.1\.2\.3\/32/, 'an empty answer')
  state.addresses = ['10.1.2.4']
  await t.containers.filterNetwork(rules)
  assert.match(openPolicy(t), /10\.1\.2\.4\/32/)
  assert.doesNotMatch(openPolicy(t), /10\.1\.2\.3\/32/)
})

test('without any address of the platform, existing policies stay and a problem is shown', async () => {
  const { state, lookup } = nameService(true)
  const t = await world({}, { free: 0, denied: 3 }, lookup)
  await t.containers.filterNetwork(rules)
  assert.deepEqual(t.server.objects('networkpolicies'), [], 'none that cuts agents off')
  assert.match(
    t.containers.networkFilter.problem ?? '',
    /no address of the platform's host roost\.example\.$/,
  )
  await assert.rejects(t.containers.ensureClosedNetwork(), hasFault('engine_fault'))
  state.isDown = false
  await t.containers.filterNetwork(rules)
  await until(async () => t.containers.closing.can)
  assert.equal(t.containers.networkFilter.problem, null)
})

test('policies that select the platform’s pods are created without its address, but replace none', async () => {
  const { state, lookup } = nameService(true)
  const t = await world({ platformPods: { app: 'roost' } }, { free: 0, denied: 3 }, lookup)
  await t.containers.filterNetwork(rules)
  assert.match(openPolicy(t), /"app":"roost"/)
  assert.match(t.containers.networkFilter.problem ?? '', /no address/)
  await t.containers.filterNetwork({ ...rules, opened: [] })
  assert.match(openPolicy(t), /10\.9\.0\.0/, 'still the first one')
  state.isDown = false
  const hosts = [{ host: 'pods.example', port: 8001 }]
  await t.containers.filterNetwork({ ...rules, platformHosts: hosts })
  assert.match(openPolicy(t), /10\.1\.2\.3\/32/)
  await until(async () => t.containers.closing.can)
})

test('a name of API pods that none answers for yet does not delay the policies', async () => {
  const lookup = async (host: string) => (host === 'pods.example' ? [] : ['10.1.2.3'])
  const settings = { platformPods: { app: 'roost' }, probeImage: null }
  const t = await world(settings, { free: 0, denied: 3 }, lookup)
  const rulesWithPods = { ...rules, platformHosts: [{ host: 'pods.example', port: 8001 }] }
  await t.containers.filterNetwork(rulesWithPods)
  await t.containers.filterNetwork({ ...rulesWithPods, opened: [] })
  assert.doesNotMatch(openPolicy(t), /10\.9\.0\.0/)
})

test('policies permit the other processes if one further host has no address', async () => {
  const lookup = async (host: string) => (host === 'removed.example' ? [] : ['10.1.2.3'])
  const t = await world({}, { free: 0, denied: 3 }, lookup)
  await t.containers.filterNetwork({ ...rules, platformHosts: [{ host: 'removed.example', port: 8001 }] })
  assert.match(openPolicy(t), /10\.1\.2\.3\/32/)
  await until(async () => t.containers.closing.can)
  assert.equal(t.containers.networkFilter.problem, null)
})

test('closed containers asked for before the rules are known do not write policies without the platform', async () => {
  const t = await world({}, { free: 0, denied: 3 })
  await assert.rejects(t.containers.ensureClosedNetwork(), hasFault('engine_fault'))
  assert.deepEqual(t.server.objects('networkpolicies'), [])
})

test('a policy that another API process creates at the same time is updated', async () => {
  const t = await world({ probeImage: null }, { free: 0, denied: 3 })
  t.server.intercept(({ method, path, body }) => {
    if (method === 'POST' && path.endsWith('/networkpolicies'))
      t.server.put('networkpolicies', { metadata: { ...body.metadata }, spec: 'of another process' })
    return false
  })
  await t.containers.filterNetwork(rules)
  assert.match(openPolicy(t), /10\.1\.2\.3\/32/)
  assert.doesNotMatch(t.containers.networkFilter.problem ?? '', /cannot be written/)
})

test('after a failed write, the same policies are written again', async () => {
  const t = await world({ probeImage: null }, { free: 0, denied: 3 })
  await t.containers.filterNetwork(rules)
  t.server.intercept(({ path }, response) => {
    if (!path.endsWith('-closed')) return false
    response.writeHead(422).end(JSON.stringify({ message: 'refused' }))
    return true
  })
  await t.containers.filterNetwork({ ...rules, opened: [] })
  assert.match(t.containers.networkFilter.problem ?? '', /refused/)
  assert.doesNotMatch(openPolicy(t), /10\.9\.0\.0/)
  t.server.intercept(null)
  await t.containers.filterNetwork(rules)
  assert.match(openPolicy(t), /10\.9\.0\.0/)
  assert.doesNotMatch(t.containers.networkFilter.problem ?? '', /refused/)
})
