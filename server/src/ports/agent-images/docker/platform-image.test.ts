import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { resolve } from 'node:path'
import { after, before, test } from 'node:test'
import type { Container } from 'dockerode'
import { buildRecord } from '../../../operations/version/index.ts'
import { connect } from '../../containers/docker/connect.ts'
import { ensurePlatformImage, findPlatformImage } from './platform-image.ts'
import { engineLines } from './stream.ts'

const root = resolve(import.meta.dirname, '../../../../..')
const docker = connect(process.env.ROOST_TEST_CONTAINERS_URL ?? 'docker:')
const name = `roost-test-image-${randomBytes(4).toString('hex')}`
const options = {
  docker,
  root,
  // The image stays on the machine, so its commit must be the true one.
  record: await buildRecord(root),
  onProgress: () => {},
  env: process.env,
}
const containers: Container[] = []
let image = ''

before(async () => {
  image = (await ensurePlatformImage(options)).image
})
after(async () => {
  for (const container of containers.reverse()) await container.remove({ force: true, v: true })
  await docker
    .getVolume(name)
    .remove()
    .catch(() => {})
})

/** Starts a program of the image with nothing but its data volume. */
async function start(command: string, network = 'bridge'): Promise<Container> {
  const container = await docker.createContainer({
    Image: image,
    name: `${name}-${command}`,
    Cmd: [command],
    Env: ['ROOST_CONTAINERS_URL=fake:', 'ROOST_HOST=0.0.0.0'],
    // In nanoseconds.
    Healthcheck: { Interval: 1e9, Timeout: 20e9, Retries: 100 },
    HostConfig: {
      NetworkMode: network,
      ReadonlyRootfs: true,
      CapDrop: ['ALL'],
      SecurityOpt: ['no-new-privileges:true'],
      Tmpfs: { '/tmp': 'rw,noexec,nosuid,nodev,size=64m' },
      Mounts: [{ Type: 'volume', Source: name, Target: '/data' }],
    },
  })
  containers.push(container)
  const filters = { container: [container.id], event: ['die', 'health_status'] }
  const events = await docker.getEvents({ since: Math.floor(Date.now() / 1000), filters })
  await container.start()
  const { State } = await container.inspect()
  assert.ok(State.Running, await logsOf(container))
  for await (const line of engineLines(events)) {
    if (line.status === 'die') assert.fail(`${command} ended: ${await logsOf(container)}`)
    if (line.status === 'health_status: healthy') break
  }
  return container
}

const logsOf = async (container: Container) => String(await container.logs({ stdout: true, stderr: true }))

async function run(
  container: Container,
  ...command: string[]
): Promise<{ code: number | null; output: string }> {
  const exec = await container.exec({ Cmd: command, AttachStdout: true, AttachStderr: true, Tty: true })
  const stream = await exec.start({ Tty: true })
  let output = ''
  for await (const chunk of stream) output += String(chunk)
  return { code: (await exec.inspect()).ExitCode, output: output.trim() }
}

test('the image is at most 350 MB, is built once, and another commit is another image', async () => {
  const { Size } = await docker.getImage(image).inspect()
  assert.ok(Size <= 350_000_000, `${Size} bytes`)
  assert.equal((await findPlatformImage(options)).isReady, true)
  const record = { ...options.record, commit: '1'.repeat(40) }
  assert.equal((await findPlatformImage({ ...options, record })).isReady, false)
})

test('it contains no tests, development tools or package manager', async () => {
  const container = await start('api')
  const find =
    "find /opt/roost \\( -name '*.test.ts' -o -name typescript -o -name playwright-core -o -name biome \\) | head"
  assert.deepEqual(await run(container, 'sh', '-c', find), { code: 0, output: '' })
  assert.equal((await run(container, 'sh', '-c', 'command -v npm')).output, '')
  assert.equal(
    (await run(container, 'sh', '-c', 'find / -xdev -perm /6000 -type f 2>/dev/null | head')).output,
    '',
  )
})

test('its programs work as another user on a read-only file system, and stop cleanly', async () => {
  const [api] = containers
  assert.ok(api)
  assert.equal((await run(api, 'id', '-u')).output, '10001')
  for (const path of ['/x', '/opt/roost/x', '/etc/x']) {
    assert.match((await run(api, 'touch', path)).output, /Read-only file system/)
  }
  const { Id, NetworkSettings } = await api.inspect()
  const url = `http://${NetworkSettings.Networks.bridge?.IPAddress}:8000`
  assert.match(await (await fetch(url)).text(), /<!doctype html>/i)
  const password = 'correct horse battery'
  const body = JSON.stringify({ password })
  const headers = { 'content-type': 'application/json' }
  assert.equal(
    (await fetch(`${url}/api/setup/admin-password`, { method: 'POST', headers, body })).status,
    200,
  )
  const form = new URLSearchParams({ username: 'admin', password })
  const token = (await (await fetch(`${url}/api/token`, { method: 'POST', body: form })).json()) as {
    access_token: string
  }
  const reply = await fetch(`${url}/api/version`, {
    headers: { authorization: `Bearer ${token.access_token}` },
  })
  const version = (await reply.json()) as Record<string, unknown>
  const { commit, subject, date, version: own } = options.record
  const expected = { version: own, git_commit: commit, git_commit_subject: subject, build_date: date }
  for (const [field, value] of Object.entries({ ...expected, install_source: 'image' }))
    assert.equal(version[field], value, field)
  const scheduler = await start('scheduler', `container:${Id}`)
  const mcp = await start('mcp', `container:${Id}`)
  const backup = await run(
    api,
    'env',
    'ROOST_BACKUP_PASSPHRASE=a long passphrase',
    'roost',
    'backup',
    '--to',
    '/data/b.tar.gz',
  )
  assert.equal(backup.code, 0, backup.output)
  assert.equal((await run(api, 'roost', 'up')).code, 64)
  for (const container of [mcp, scheduler, api]) {
    await container.stop({ t: 30 })
    assert.equal((await container.inspect()).State.ExitCode, 0)
  }
})

test('migrations run without a platform', async () => {
  const container = await docker.createContainer({
    Image: image,
    name: `${name}-migrate`,
    Cmd: ['migrate'],
    HostConfig: {
      ReadonlyRootfs: true,
      Tmpfs: { '/tmp': '' },
      Mounts: [{ Type: 'volume', Source: name, Target: '/data' }],
    },
  })
  containers.push(container)
  await container.start()
  assert.deepEqual(await container.wait(), { StatusCode: 0, Error: null })
})
