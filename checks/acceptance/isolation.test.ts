/** What an agent can reach of other agents, the platform and the machine. */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { after, before, test } from 'node:test'
import { promisify } from 'node:util'
import { type Platform, startPlatform } from './platform.ts'
import { gatewayOf } from './steps.ts'

const run = promisify(execFile)
let platform: Platform
before(async () => {
  platform = await startPlatform()
  for (const name of ['wall-a', 'wall-b']) {
    const reply = await platform.request('POST', '/api/agents', { name })
    assert.equal(reply.status, 200, reply.text)
  }
})
after(async () => {
  await platform?.[Symbol.asyncDispose]()
})

/** Whether a TCP connection from inside an agent succeeds. */
async function connects(from: string, host: string, port: number): Promise<boolean> {
  const script = `timeout 2 bash -c 'exec 3<>/dev/tcp/${host}/${port}' 2>/dev/null`
  return run('docker', ['exec', `agent-${from}`, 'bash', '-c', script]).then(
    () => true,
    () => false,
  )
}

async function addressOf(name: string): Promise<string> {
  const { stdout } = await run('docker', [
    'inspect',
    '-f',
    '{{range .NetworkSettings.Networks}}{{.IPAddress}}{{end}}',
    `agent-${name}`,
  ])
  return stdout.trim()
}

/** Ports open to the network. The engine's name server on loopback is excluded. */
async function listeningPorts(name: string): Promise<number[]> {
  const { stdout } = await run('docker', ['exec', `agent-${name}`, 'cat', '/proc/net/tcp', '/proc/net/tcp6'])
  const ports = stdout.split('\n').flatMap((line) => {
    const match = /^\s*\d+: (?![0-9A-F]{6}7F:)[0-9A-F]+:([0-9A-F]{4}) \S+ 0A /.exec(line)
    return match ? [Number.parseInt(match[1] ?? '', 16)] : []
  })
  return [...new Set(ports)]
}

test('an agent listens only on SSH', async () => {
  assert.deepEqual(await listeningPorts('wall-a'), [22])
})

test('neither agent can connect to a port of the other', async () => {
  const pairs = [
    ['wall-a', 'wall-b'],
    ['wall-b', 'wall-a'],
  ] as const
  for (const [from, to] of pairs) {
    const address = await addressOf(to)
    assert.equal(await connects(to, '127.0.0.1', 22), true, 'the port is open inside its own container')
    for (const port of [22, 8000, 8001, 80])
      assert.equal(await connects(from, address, port), false, `${from} → ${to}:${port}`)
  }
})

test("the gateway exposes neither the public API nor another agent's published SSH port", async () => {
  const gateway = await gatewayOf('wall-a')
  const other = (await platform.request('GET', '/api/agents/wall-b')).json
  assert.equal(
    await connects('wall-a', gateway, platform.internalPort),
    true,
    'the internal listener is what agents reach',
  )
  assert.equal(await connects('wall-a', gateway, other.port), false)
  assert.equal(await connects('wall-a', gateway, Number(new URL(platform.url).port)), false)
})

test("internal routes are 404 on the public listener and from an agent's network", async () => {
  assert.equal((await platform.request('GET', '/api/internal/health')).status, 404)
  const url = `http://${await gatewayOf('wall-a')}:${platform.internalPort}/api/internal/health`
  const inside = await run('docker', [
    'exec',
    'agent-wall-a',
    'curl',
    '-s',
    '-o',
    '/dev/null',
    '-w',
    '%{http_code}',
    url,
  ])
  assert.equal(inside.stdout, '404')
})

test('the container is confined as documented', async () => {
  const { stdout } = await run('docker', ['inspect', 'agent-wall-a'])
  const [inspected] = JSON.parse(stdout)
  const host = inspected.HostConfig
  assert.deepEqual(host.CapDrop, ['ALL'])
  const added = host.CapAdd.map((cap: string) => cap.replace(/^CAP_/, '')).sort()
  assert.deepEqual(added, ['AUDIT_WRITE', 'CHOWN', 'NET_BIND_SERVICE', 'SETGID', 'SETUID', 'SYS_CHROOT'])
  assert.ok(host.SecurityOpt.some((option: string) => option.startsWith('no-new-privileges')))
  assert.equal(host.PidsLimit, 2048)
  assert.equal(host.Memory, host.MemorySwap)
  assert.equal(host.RestartPolicy.Name, 'unless-stopped')
  assert.equal(host.Privileged, false)
  assert.deepEqual(host.LogConfig.Config, { 'max-file': '3', 'max-size': '10m' })
  assert.ok(!JSON.stringify(inspected.Mounts).includes('docker.sock'))
})
