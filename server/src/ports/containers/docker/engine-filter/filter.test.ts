import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer, request } from 'node:http'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, beforeEach, test } from 'node:test'
import type { ContainerSpec } from '../../port.ts'
import { createDockerContainers } from '../docker.ts'
import { createOptions } from '../spec.ts'
import { tar } from './test-archive.ts'
import { openTestFilter, type TestFilter } from './test-filter.ts'

const ours = { 'roost.install': 'one' }
const theirs = { 'roost.install': 'two' }

const identity = { ID: 'id-of-this-engine', Name: 'host', DockerRootDir: '/var/lib/docker' }

/** What a small engine answers; every other path is 404. */
const answers: Record<string, unknown> = {
  '/_ping': 'OK',
  '/version': { Version: '27', Components: [{ Name: 'Engine' }] },
  '/info': {
    ...identity,
    NCPU: 2,
    MemTotal: 5,
    Runtimes: { runc: { path: '/usr/bin/runc' } },
    DefaultRuntime: 'runc',
    Swarm: { NodeID: 'secret' },
  },
  '/system/df': {
    Containers: [
      { Id: 'c1', Labels: ours },
      { Id: 'c2', Labels: theirs },
    ],
    Volumes: [{ Name: 'home', Labels: null }],
    Images: [{ Id: 'secret' }],
  },
  '/containers/own/json': { Id: 'c1', Config: { Labels: ours } },
  '/containers/foreign/json': { Id: 'c2', Config: { Labels: theirs, Env: ['TOKEN=x'] } },
  '/containers/unlabelled/json': { Id: 'c3', Config: { Labels: null } },
  '/containers/filler/json': {
    ...{ Id: 'c4', State: { Status: 'created' } },
    Config: { Labels: { ...ours, 'roost.platform': 'volume-filler' } },
  },
  '/containers/ran/json': {
    ...{ Id: 'c5', State: { Status: 'exited' } },
    Config: { Labels: { ...ours, 'roost.platform': 'volume-filler' } },
  },
  '/containers/others/json': {
    ...{ Id: 'c6', State: { Status: 'created' } },
    Config: { Labels: { ...theirs, 'roost.platform': 'volume-filler' } },
  },
  '/networks/roost-agents': { Id: 'n1', Name: 'roost-agents', Labels: ours },
  '/networks/lan': { Id: 'n2', Name: 'lan', Labels: {} },
  '/networks/n1': { Id: 'n1', Name: 'roost-agents', Labels: ours },
  '/networks': [
    { Id: 'n1', Name: 'roost-agents', Labels: ours, IPAM: {} },
    { Id: 'n2', Name: 'lan', Labels: {}, IPAM: { Config: [{ Gateway: '10.0.0.1' }] } },
  ],
  '/volumes/home': { Name: 'home', Labels: ours, Mountpoint: '/m' },
  '/volumes/taken': { Name: 'taken', Labels: theirs, Mountpoint: '/m' },
  '/images/roost-agent:codex-1/json': { Id: 'i1' },
  ...volume('base', { 'roost.is-base': '1' }),
  ...volume('plain', {}),
  ...volume('new-upper', { 'roost.part-of': 'new' }),
  ...volume('new-work', { 'roost.part-of': 'new' }),
  ...volume('odd-upper', { 'roost.part-of': 'other' }),
  ...volume('odd-work', { 'roost.part-of': 'odd' }),
  ...volume('half-upper', { 'roost.part-of': 'half' }),
  ...volume('deep-upper', { 'roost.part-of': 'deep' }, { Options: { type: 'overlay' } }),
  ...volume('deep-work', { 'roost.part-of': 'deep' }),
  ...volume('layered', { 'roost.is-base': '1' }, { Options: { type: 'overlay' } }),
  ...volume('plugged', { 'roost.is-base': '1' }, { Driver: 'nfs' }),
  ...volume('strange', { 'roost.is-base': '1' }, { Mountpoint: '/m/x,lowerdir=/etc/strange/_data' }),
  ...volume('difference', { 'roost.is-base': '1', 'roost.base': 'base' }),
  ...volume('wrong', { 'roost.is-base': '1', 'roost.base': 'theirs' }),
  ...volume('leading', { 'roost.is-base': '1', 'roost.base': '../../images' }),
  ...volume('theirs', { 'roost.is-base': '1', 'roost.install': 'two' }),
}

function mountpoint(name: string): string {
  return `/var/lib/docker/volumes/${name}/_data`
}
function volume(name: string, labels: Record<string, string>, over: object = {}): Record<string, unknown> {
  const own = { Name: name, Driver: 'local', Mountpoint: mountpoint(name), Options: null }
  return { [`/volumes/${name}`]: { ...own, Labels: { ...ours, ...labels }, ...over } }
}

type Forwarded = { method: string; url: string; body: string }
const forwarded: Forwarded[] = []
const engine = createServer(async (incoming, response) => {
  const { method = '', url = '' } = incoming
  const call = { method, url, body: '' }
  forwarded.push(call)
  // Archives are bytes.
  for await (const chunk of incoming) call.body += chunk.toString('latin1')
  const known = method === 'GET' ? answers[url.split('?')[0] ?? ''] : {}
  response.writeHead(known === undefined ? 404 : 200, { 'content-type': 'application/json' })
  response.end(JSON.stringify(known ?? { message: 'not found' }))
})
let folder = ''
let filter: TestFilter

before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'roost-filter-engine-'))
  const engineSocket = join(folder, 'engine.sock')
  engine.listen(engineSocket)
  await once(engine, 'listening')
  const isAllowedImage = (image: string) => image.startsWith('roost-agent:')
  filter = await openTestFilter({ engineSocket, install: 'one', isAllowedImage })
})
after(async () => {
  await filter.close()
  engine.close()
  engine.closeAllConnections()
  await rm(folder, { recursive: true })
})
beforeEach(() => {
  forwarded.length = 0
  filter.refused.length = 0
})

/** The engine answers differently during `work`. */
async function answering(path: string, answer: object, work: () => Promise<void>): Promise<void> {
  const before = answers[path]
  answers[path] = answer
  try {
    await work()
  } finally {
    answers[path] = before
  }
}

type Reply = { status: number; json: Record<string, unknown>; text: string }
function call(
  method: string,
  path: string,
  body?: unknown,
  headers: Record<string, string> = {},
): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const outgoing = request(
      { socketPath: filter.socket, method, path, headers, agent: false },
      async (reply) => {
        let text = ''
        for await (const chunk of reply) text += String(chunk)
        const isJson = reply.headers['content-type'] === 'application/json' && text !== ''
        resolve({ status: reply.statusCode ?? 0, text, json: isJson ? JSON.parse(text) : {} })
      },
    )
    outgoing.on('error', reject)
    const isText = typeof body === 'string' || Buffer.isBuffer(body)
    outgoing.end(body === undefined || isText ? body : JSON.stringify(body))
  })
}

/** Sends bytes that an HTTP client would not send, and returns everything that comes back. */
async function raw(bytes: string): Promise<string> {
  const socket = connect(filter.socket)
  let text = ''
  socket.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk
  })
  socket.end(bytes)
  await once(socket, 'close')
  return text
}

/** Calls that changed something at the engine, or reached one of its objects by its own id. */
const effects = () => forwarded.filter(({ method }) => method !== 'GET')

const spec: ContainerSpec = {
  name: 'agent-ada',
  image: 'roost-agent:codex-1',
  labels: { 'roost.agent-name': 'ada' },
  env: { AGENT_NAME: 'ada' },
  cpus: 1,
  memoryBytes: 1_000_000_000,
  maxProcesses: 100,
  tmpBytes: 1_000_000,
  fullCapabilities: false,
  mounts: [{ type: 'volume', volume: 'home', target: '/home/developer' }],
  ssh: { bind: '127.0.0.1', port: 2222 },
}
const traits = { cpus: 2, ulimits: [], canSeparate: true, canLayer: true }
// The parsed form lets the attacks set any field.
const allowed = () => JSON.parse(JSON.stringify(createOptions(spec, 'one', 'roost-agents', traits)))
const create = (body: unknown) => call('POST', '/containers/create?name=agent-ada', body)

test('the body that the adapter sends is forwarded unchanged', async () => {
  for (const fullCapabilities of [false, true]) {
    for (const isClosed of [false, true]) {
      forwarded.length = 0
      const body = JSON.parse(
        JSON.stringify(
          createOptions(
            { ...spec, fullCapabilities, isClosed, runtime: 'runsc' },
            'one',
            'roost-agents',
            traits,
          ),
        ),
      )
      assert.equal((await create(body)).status, 200)
      const [sent] = effects()
      assert.equal(sent?.url, '/containers/create?name=agent-ada')
      assert.deepEqual(JSON.parse(sent?.body ?? ''), body)
    }
  }
})

const host = (fields: object) => (body: { HostConfig: object }) => Object.assign(body.HostConfig, fields)
const top = (fields: object) => (body: object) => Object.assign(body, fields)
const mount = (fields: object) => (body: { HostConfig: { Mounts: object[] } }) =>
  Object.assign(body.HostConfig.Mounts[0] ?? {}, fields)
const bodies: Record<string, (body: never) => unknown> = {
  'a privileged container': host({ Privileged: true }),
  'a privileged container by another spelling': host({ privileged: true }),
  'a host bind': host({ Binds: ['/:/host'] }),
  'a mount of the host': mount({ Type: 'bind', Source: '/' }),
  'a mount of the engine’s socket': mount({ Type: 'bind', Source: '/var/run/docker.sock' }),
  'a foreign volume': mount({ Source: 'taken' }),
  'a volume whose driver mounts the host': mount({
    VolumeOptions: {
      NoCopy: false,
      Labels: ours,
      DriverConfig: { Name: 'local', Options: { o: 'bind', device: '/' } },
    },
  }),
  'a new volume without the label': mount({
    VolumeOptions: { NoCopy: false, Labels: {}, DriverConfig: { Name: '', Options: {} } },
  }),
  'volumes of another container': host({ VolumesFrom: ['foreign'] }),
  'the host’s network': host({ NetworkMode: 'host' }),
  'the network of another container': host({ NetworkMode: 'container:foreign' }),
  'a foreign network': host({ NetworkMode: 'lan' }),
  'an own network by its id': host({ NetworkMode: 'n1' }),
  'a second network': top({ NetworkingConfig: { EndpointsConfig: { lan: {} } } }),
  'the host’s processes': host({ PidMode: 'host' }),
  'the host’s shared memory': host({ IpcMode: 'host' }),
  'the host’s users': host({ UsernsMode: 'host' }),
  'the host’s names': host({ UTSMode: 'host' }),
  'the host’s control groups': host({ CgroupnsMode: 'host' }),
  'a control group of the host': host({ CgroupParent: '/' }),
  'a device': host({
    Devices: [{ PathOnHost: '/dev/sda', PathInContainer: '/dev/sda', CgroupPermissions: 'rwm' }],
  }),
  'a device rule': host({ DeviceCgroupRules: ['a *:* rwm'] }),
  'a volume in place of the kernel’s files': mount({ Target: '/proc' }),
  'a volume in a folder of the kernel': mount({ Target: '/sys/kernel' }),
  'a volume by a path that is not clean': mount({ Target: '/home/../proc' }),
  'temporary files in place of devices': host({
    Tmpfs: { '/dev': 'rw,noexec,nosuid,nodev,mode=0755,size=1k' },
  }),
  'an added capability': host({ CapAdd: ['SYS_ADMIN'] }),
  'all capabilities': host({ CapAdd: ['ALL'] }),
  'kept capabilities': host({ CapDrop: [] }),
  'no seccomp profile': host({ SecurityOpt: ['seccomp=unconfined'] }),
  'no AppArmor profile': host({ SecurityOpt: ['no-new-privileges:true', 'apparmor=unconfined'] }),
  'visible kernel files': host({ MaskedPaths: [] }),
  'kernel parameters': host({ Sysctls: { 'net.ipv4.ip_forward': '1' } }),
  'executable temporary files': host({ Tmpfs: { '/tmp': 'rw,exec' } }),
  'another log driver': host({
    LogConfig: { Type: 'syslog', Config: { 'syslog-address': 'tcp://10.0.0.1' } },
  }),
  'a runtime by path': host({ Runtime: '/tmp/evil' }),
  'a low port of the host': host({ PortBindings: { '22/tcp': [{ HostIp: '0.0.0.0', HostPort: '22' }] } }),
  'no limit of memory': host({ Memory: 0 }),
  'another image': top({ Image: 'debian:12' }),
  'an image with a similar name': top({ Image: 'roost-agents-evil:1' }),
  'another command': top({ Cmd: ['sh'] }),
  'another entry point': top({ Entrypoint: ['sh'] }),
  'another user': top({ User: '0' }),
  'no label': top({ Labels: {} }),
  'the label of another installation': top({ Labels: theirs }),
  'labels that other tools obey': top({ Labels: { ...ours, 'traefik.enable': 'true' } }),
  'an unknown field': top({ FutureField: true }),
}
for (const [title, change] of Object.entries(bodies)) {
  test(`a container with ${title} is refused`, async () => {
    const body = allowed()
    change(body as never)
    const reply = await create(body)
    assert.equal(reply.status, 403)
    assert.match(String(reply.json.message), /^Refused by the engine filter\. \S/)
    assert.deepEqual(effects(), [])
    assert.equal(filter.refused.length, 1)
  })
}

test('of two fields with one name only the checked one reaches the engine', async () => {
  const text = JSON.stringify(allowed()).replace('"Privileged":false', '"Privileged":true,"Privileged":false')
  assert.equal((await create(text)).status, 200)
  assert.equal(effects()[0]?.body.includes('true,"Privileged"'), false)
  const last = JSON.stringify(allowed()).replace('"Privileged":false', '"Privileged":false,"Privileged":true')
  assert.equal((await create(last)).status, 403)
})

test('a prototype in a body is an unknown field', async () => {
  const text = JSON.stringify(allowed()).replace(
    '"Privileged"',
    '"__proto__":{"Privileged":true},"Privileged"',
  )
  assert.equal((await create(text)).status, 403)
})

const calls: [title: string, method: string, path: string, body?: unknown][] = [
  ['a program in an own container', 'POST', '/containers/own/exec', { Cmd: ['sh'], Privileged: true }],
  ['a program in a foreign container', 'POST', '/containers/foreign/exec', { Cmd: ['sh'] }],
  ['a program’s start', 'POST', '/exec/abc/start', {}],
  ['an attachment', 'POST', '/containers/own/attach?stream=1'],
  ['an image build', 'POST', '/build?t=roost-agent:codex-1'],
  ['an image pull', 'POST', '/images/create?fromImage=debian'],
  ['an image load', 'POST', '/images/load'],
  ['an image tag', 'POST', '/images/debian/tag?repo=roost-agent'],
  ['an image of others', 'GET', '/images/debian:12/json'],
  ['the list of images', 'GET', '/images/json'],
  ['an image commit', 'POST', '/commit?container=own'],
  ['a swarm', 'POST', '/swarm/init', {}],
  ['a service', 'POST', '/services/create', {}],
  ['a secret', 'GET', '/secrets'],
  ['a plugin', 'POST', '/plugins/pull?remote=evil'],
  ['a session of the builder', 'POST', '/session'],
  ['a connection to a network', 'POST', '/networks/n1/connect', { Container: 'foreign' }],
  ['an update of limits', 'POST', '/containers/own/update', { Memory: 0 }],
  ['a download of files', 'GET', '/containers/own/archive?path=/'],
  ['an export', 'GET', '/containers/own/export'],
  ['a prune', 'POST', '/volumes/prune'],
  ['an older version of the API', 'POST', '/v1.18/containers/own/start', { Privileged: true }],
  ['a path that leaves a version', 'GET', '/v1.41/../images/json'],
  ['a path with dots', 'POST', '/containers/../build'],
  ['a path with a dot', 'GET', '/./info'],
  ['a path with an empty segment', 'GET', '//info'],
  ['an encoded slash', 'GET', '/containers%2Fforeign%2Fjson'],
  ['encoded dots', 'GET', '/containers/own/%2e%2e/foreign/json'],
  ['a semicolon', 'GET', '/info;/build'],
  ['a backslash', 'GET', '/containers\\foreign/json'],
  ['a second question mark', 'GET', '/info?x?y'],
  ['an unknown parameter', 'POST', '/containers/own/start?checkpoint=x'],
  ['a repeated parameter', 'POST', '/containers/own/stop?t=1&t=2'],
  ['endless logs', 'GET', '/containers/own/logs?stdout=true&follow=true'],
  ['a list by another filter', 'GET', '/containers/json?filters={"volume":["taken"]}'],
  [
    'a volume with driver options',
    'POST',
    '/volumes/create',
    { Name: 'new', Labels: ours, DriverOpts: { device: '/' } },
  ],
  ['a volume without the label', 'POST', '/volumes/create', { Name: 'new', Labels: {} }],
  ['removal of a foreign volume', 'DELETE', '/volumes/taken'],
  ['a network on the host’s interface', 'POST', '/networks/create', { Name: 'roost-x', Driver: 'macvlan' }],
  ['a body that is no JSON', 'POST', '/volumes/create', 'x'],
  ['a body without end', 'POST', '/volumes/create', 'x'.repeat(1_000_001)],
]
for (const [title, method, path, body] of calls) {
  test(`${title} is refused`, async () => {
    const reply = await call(
      method,
      path.replaceAll('"', '%22').replaceAll(/[{}[\]]/g, encodeURIComponent),
      body,
    )
    assert.equal(reply.status, 403)
    assert.deepEqual(effects(), [])
    assert.equal(filter.refused.length, 1)
  })
}

test('a network must keep its containers apart', async () => {
  const body = {
    Name: 'roost-x',
    Driver: 'bridge',
    CheckDuplicate: true,
    Internal: false,
    Labels: ours,
    Options: { 'com.docker.network.bridge.enable_icc': 'false' },
  }
  assert.equal((await call('POST', '/networks/create', body)).status, 200)
  for (const change of [
    { Options: {} },
    { Name: 'lan' },
    { Driver: 'host' },
    { IPAM: {} },
    { Labels: theirs },
  ])
    assert.equal((await call('POST', '/networks/create', { ...body, ...change })).status, 403)
  assert.equal(effects().length, 1)
})

test('foreign and unlabelled containers do not exist', async () => {
  for (const name of ['foreign', 'unlabelled', 'nowhere']) {
    for (const [method, path] of [
      ['GET', `/containers/${name}/json`],
      ['GET', `/containers/${name}/logs?stdout=true`],
      ['GET', `/containers/${name}/stats?stream=false`],
      ['POST', `/containers/${name}/start`],
      ['POST', `/containers/${name}/stop?t=1`],
      ['DELETE', `/containers/${name}?force=true`],
    ] as const) {
      const reply = await call(method, path)
      assert.deepEqual([reply.status, reply.json], [404, { message: `No such container: ${name}` }])
    }
  }
  assert.deepEqual(effects(), [])
})

test('an own container is addressed by the engine’s id, without the caller’s body', async () => {
  await call('POST', '/containers/own/start', { Privileged: true, Binds: ['/:/host'] })
  assert.deepEqual(effects(), [{ method: 'POST', url: '/containers/c1/start', body: '' }])
})

test('a body in chunks is checked like any other', async () => {
  const body = JSON.stringify({ ...allowed(), Privileged: true })
  const reply = await call('POST', '/containers/create?name=x', body, { 'transfer-encoding': 'chunked' })
  assert.equal(reply.status, 403)
  assert.deepEqual(effects(), [])
})

test('lists and events are limited to this installation', async () => {
  const own = (filters: object) => JSON.stringify({ ...filters, label: ['roost.install=one'] })
  const [given, foreign] = ['one', 'two'].map((id) => encodeURIComponent(`{"label":["roost.install=${id}"]}`))
  for (const path of ['/containers/json', '/volumes', '/events']) {
    await call('GET', path)
    await call('GET', `${path}?filters=${given}`)
    const [plain, both] = forwarded
      .splice(0)
      .map(({ url }) => new URL(url, 'http://x').searchParams.get('filters'))
    assert.equal(plain, own({}))
    assert.equal(both, own({}))
    // Podman shows events that match any of several labels.
    assert.equal((await call('GET', `${path}?filters=${foreign}`)).status, 403)
  }
})

test('the engine’s description, disk usage, networks and volumes show nothing of others', async () => {
  assert.deepEqual((await call('GET', '/info')).json, {
    ...identity,
    NCPU: 2,
    MemTotal: 5,
    DefaultRuntime: 'runc',
    Runtimes: { runc: {} },
    SecurityOptions: [],
  })
  const disk = (await call('GET', '/system/df?type=container&type=volume&verbose=1')).json
  assert.deepEqual(disk, { Containers: [{ Id: 'c1', Labels: ours }], Volumes: [] })
  const named = (name: string) => `/networks?filters=${encodeURIComponent(JSON.stringify({ name: [name] }))}`
  const own = { Id: 'n1', Name: 'roost-agents', Labels: ours, IPAM: {} }
  assert.deepEqual((await call('GET', '/networks')).json, [own])
  assert.deepEqual((await call('GET', named('la'))).json, [own])
  const foreign = { Id: 'n2', Name: 'lan', Labels: {}, IPAM: { Config: [] } }
  assert.deepEqual((await call('GET', named('lan'))).json, [own, foreign])
  assert.deepEqual((await call('GET', '/volumes/taken')).json, { Name: 'taken', Labels: {} })
  assert.equal((await call('GET', '/volumes/home')).json.Mountpoint, '/m')
})

test('the engine has the same identity with and without the filter', async () => {
  const idAt = async (socket: string) =>
    (await createDockerContainers(`docker://${socket}`, { install: 'one', network: 'x' }).ping()).id
  assert.equal(await idAt(join(folder, 'engine.sock')), `docker:${identity.ID}`)
  assert.equal(await idAt(filter.socket), `docker:${identity.ID}`)
  await answering('/version', { Version: '5', Components: [{ Name: 'Podman Engine' }] }, async () => {
    assert.equal(await idAt(filter.socket), 'podman:host:/var/lib/docker')
  })
})

test('an engine without an identity is refused: a constant would be the same for all', async () => {
  const containers = createDockerContainers(`docker://${filter.socket}`, { install: 'one', network: 'x' })
  await answering('/info', { NCPU: 2, MemTotal: 5 }, () =>
    assert.rejects(containers.ping(), /does not show its identity: update the engine filter/),
  )
})

test('a volume name of another installation is in use', async () => {
  const reply = await call('POST', '/volumes/create', { Name: 'taken', Labels: ours })
  assert.equal(reply.status, 409)
  assert.match(String(reply.json.message), /name taken is already in use/)
  assert.deepEqual(effects(), [])
})

test('an upgrade is refused', async () => {
  const reply = await raw(
    'POST /containers/own/start HTTP/1.1\r\nhost: x\r\nconnection: upgrade\r\nupgrade: tcp\r\n\r\n',
  )
  assert.match(reply, /^HTTP\/1\.1 403 /)
  assert.deepEqual(effects(), [])
})

test('a hidden second request is not forwarded', async () => {
  const hidden = 'POST /build HTTP/1.1\r\nhost: x\r\ncontent-length: 0\r\n\r\n'
  for (const headers of [
    `content-length: ${hidden.length}\r\ntransfer-encoding: chunked`,
    'transfer-encoding: xchunked',
    'content-length: 0\r\ncontent-length: 5',
  ]) {
    const reply = await raw(
      `POST /containers/own/start HTTP/1.1\r\nhost: x\r\n${headers}\r\n\r\n0\r\n\r\n${hidden}`,
    )
    assert.match(reply, /^HTTP\/1\.1 400 /)
  }
  await raw(`CONNECT /build HTTP/1.1\r\nhost: x\r\n\r\n${hidden}`)
  await raw(`GET http://docker/build HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n`)
  assert.deepEqual(effects(), [])
})

test('an engine that does not answer is 502', async () => {
  const silent = await openTestFilter({
    engineSocket: join(folder, 'nowhere.sock'),
    install: 'one',
    isAllowedImage: () => true,
  })
  const status = await new Promise((resolve) => {
    request({ socketPath: silent.socket, path: '/_ping' }, (reply) =>
      resolve(reply.resume().statusCode),
    ).end()
  })
  await silent.close()
  assert.equal(status, 502)
})

const overlay = (lower: string, upper: string, work: string) =>
  `lowerdir=${lower},upperdir=${upper},workdir=${work},redirect_dir=on,index=off,metacopy=off`
const layer = (name: string, base: string, over: object = {}) => ({
  Name: name,
  Labels: { ...ours, 'roost.base': base },
  Driver: 'local',
  DriverOpts: {
    ...{ type: 'overlay', device: 'overlay' },
    o: overlay(mountpoint(base), mountpoint(`${name}-upper`), mountpoint(`${name}-work`)),
    ...over,
  },
})
const createVolume = (body: object) => call('POST', '/volumes/create', body)

test('a layer on a base of this installation is forwarded', async () => {
  assert.equal((await createVolume(layer('new', 'base'))).status, 200)
  assert.deepEqual(JSON.parse(effects()[0]?.body ?? ''), layer('new', 'base'))
})

test('a layer on a base that is on another one is forwarded', async () => {
  const below = `${mountpoint('difference')}:${mountpoint('base')}`
  const body = layer('new', 'difference', {
    o: overlay(below, mountpoint('new-upper'), mountpoint('new-work')),
  })
  assert.equal((await createVolume(body)).status, 200)
  assert.deepEqual(JSON.parse(effects()[0]?.body ?? ''), body)
})

const own = mountpoint('base')
const [upper, work] = [mountpoint('new-upper'), mountpoint('new-work')]
const layerBodies: Record<string, object> = {
  'a folder of the host below': layer('new', 'base', { o: overlay('/etc', upper, work) }),
  'a folder of the host above': layer('new', 'base', { o: overlay(own, '/etc', work) }),
  'a folder of the host beside': layer('new', 'base', { o: overlay(own, upper, '/etc') }),
  'a second folder below': layer('new', 'base', { o: overlay(`${own}:/etc`, upper, work) }),
  // A container may have put a link there.
  'a folder inside a volume': layer('new', 'base', { o: overlay(own, `${upper}/inside`, work) }),
  'a path with dots': layer('new', 'base', { o: overlay(`${own}/../../../../../etc`, upper, work) }),
  'a further option': layer('new', 'base', { o: `${overlay(own, upper, work)},lowerdir=/etc` }),
  'other options': layer('new', 'base', { o: `lowerdir=${own},upperdir=${upper},workdir=${work}` }),
  'a bind mount': layer('new', 'base', { type: 'none', device: '/', o: 'bind' }),
  'the options of a bind mount': layer('new', 'base', { o: 'bind' }),
  'a device': layer('new', 'base', { device: '/dev/sda' }),
  'a file system of the network': layer('new', 'base', { type: 'nfs', o: 'addr=10.0.0.1' }),
  'another driver': { ...layer('new', 'base'), Driver: 'nfs' },
  'a further field of the driver': layer('new', 'base', { size: '1g' }),
  'no base': { ...layer('new', 'base'), Labels: ours },
  'a volume that is no base': layer('new', 'plain'),
  'a base that is missing': layer('new', 'nowhere'),
  'a base of another installation': layer('new', 'theirs'),
  'a base without the one below it': layer('new', 'difference'),
  'a base on one of another installation': layer('new', 'wrong'),
  'a base on none': layer('new', 'leading'),
  'a base that is a layer': layer('new', 'layered'),
  'a base of another driver': layer('new', 'plugged'),
  'a base at a path with options': layer('new', 'strange', {
    o: overlay('/m/x,lowerdir=/etc/strange/_data', upper, work),
  }),
  'the parts of another volume': layer('odd', 'base'),
  'a missing part': layer('half', 'base'),
  'a part that is a layer': layer('deep', 'base'),
  'itself below and above': layer('new', 'base', { o: overlay(upper, upper, work) }),
}
for (const [title, body] of Object.entries(layerBodies)) {
  test(`a layer with ${title} is refused`, async () => {
    const reply = await createVolume(body)
    assert.equal(reply.status, 403)
    assert.deepEqual(effects(), [])
    assert.equal(filter.refused.length, 1)
  })
}

const put = (container: string, bytes: Buffer, query = 'path=/') =>
  call('PUT', `/containers/${container}/archive?${query}`, bytes)

test('an archive that fills a volume is forwarded unchanged', async () => {
  const long = `volume/${'long/'.repeat(50)}name`
  const bytes = tar([
    { path: 'volume/', type: 'folder', mode: 0o700 },
    { path: long, mode: 0o4755, owner: 1001 },
    { path: 'volume/link', type: 'symlink', link: '../../../etc/passwd' },
    { path: 'volume/far', type: 'symlink', link: `/${'far/'.repeat(100)}` },
    { path: 'volume/\xff..', mode: 0o600 },
  ])
  assert.equal((await put('filler', bytes)).status, 200)
  const [sent] = effects()
  assert.equal(sent?.url, '/containers/c4/archive?path=%2F')
  assert.equal(sent?.body, bytes.toString('latin1'))
})

test('an archive with a name beside the volume is refused', async () => {
  assert.equal((await put('filler', tar([{ path: 'etc/passwd' }]))).status, 403)
  assert.equal(filter.refused.length, 1)
  for (const { body } of effects()) assert.equal(body, '')
})

for (const container of ['own', 'ran', 'foreign', 'others', 'unlabelled'])
  test(`an archive for the container ${container} is refused`, async () => {
    const { status } = await put(container, tar([{}]))
    assert.equal(status, container === 'own' || container === 'ran' ? 403 : 404)
    assert.deepEqual(effects(), [])
  })

test('an archive for another place, and one with other parameters, is refused', async () => {
  for (const query of ['path=/etc', 'path=/&copyUIDGID=1', 'path=/&path=/etc', 'path=/volume/..'])
    assert.equal((await put('filler', tar([{}]), query)).status, 403, query)
  assert.deepEqual(effects(), [])
})
