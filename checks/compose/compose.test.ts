/** `compose.yaml` started by Debian's docker-compose: first answer, restart, and what a break-in at the API can do. */
import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { after, before, describe, test } from 'node:test'
import { type Loose, type Platform, signIn } from '../acceptance/platform.ts'
import { answerOf, createAgent, docker, isOver, untilExecution } from '../acceptance/steps.ts'
import { type Stack, startStack } from './stack.ts'

const isMissing = (program: string) => spawnSync('which', [program]).status !== 0
const skip = isMissing('docker-compose') ? 'docker-compose is not installed' : false

describe('compose.yaml', { skip }, () => {
  const name = 'qa-composed'
  let stack: Stack
  // The steps need only the fields that a stack has.
  const platform = () => stack as unknown as Platform

  before(async () => {
    stack = await startStack({ file: 'compose.yaml' })
  })
  after(async () => {
    await stack?.close()
  })

  const inspected = async (service: string): Promise<Loose> =>
    JSON.parse(await docker('inspect', await stack.containerOf(service)))[0]

  /** Runs a program in a service's container, as an intruder there could. */
  const inside = async (service: string, ...command: string[]) => {
    const { stdout, stderr, status } = spawnSync(
      'docker',
      ['exec', await stack.containerOf(service), ...command],
      {
        encoding: 'utf8',
      },
    )
    return { output: stdout + stderr, status }
  }

  test('it starts without edits, and an agent made from a template answers', async () => {
    const { json: version } = await stack.request('GET', '/api/version')
    assert.equal(version.install_source, 'image')
    await createAgent(platform(), name, { template: 'local:business-assistant' })
    assert.equal(await answerOf(platform(), name, 'the word is quince [[reply:hello]]'), 'hello')
    const own = `${stack.prefix}${name}`
    const files = await docker(
      'exec',
      own,
      'sh',
      '-c',
      'cd /home/developer; stat -c %u CLAUDE.md; cat CLAUDE.md',
    )
    assert.match(files, /^1000\n# /)
    // The MCP server answers through the API, with the secret from its file.
    const params = {
      protocolVersion: '2025-06-18',
      capabilities: {},
      clientInfo: { name: 'qa', version: '1' },
    }
    const body = { jsonrpc: '2.0', id: 1, method: 'initialize', params }
    const reply = await stack.request('POST', '/mcp', body, {
      headers: { accept: 'application/json, text/event-stream' },
      token: (await stack.request('POST', '/api/mcp/keys', { name: 'compose' })).json.key,
    })
    assert.equal(reply.status, 200, reply.text)
  })

  test('no service can do more than it needs', async () => {
    for (const service of ['engine-filter', 'api', 'scheduler', 'mcp']) {
      const { Config, HostConfig, Mounts } = await inspected(service)
      const { ReadonlyRootfs, CapDrop, CapAdd, Privileged, SecurityOpt, NetworkMode } = HostConfig
      assert.deepEqual(
        { ReadonlyRootfs, CapDrop, CapAdd, Privileged, SecurityOpt },
        {
          ReadonlyRootfs: true,
          CapDrop: ['ALL'],
          CapAdd: null,
          Privileged: false,
          SecurityOpt: ['no-new-privileges:true'],
        },
        service,
      )
      const isFilter = service === 'engine-filter'
      assert.deepEqual([Config.User, NetworkMode], isFilter ? ['0:10001', 'none'] : ['10001:10001', 'host'])
      const targets = Mounts.map(
        (mount: Loose) => `${mount.Destination}${mount.RW ? '' : ' (read-only)'}`,
      ).sort()
      assert.deepEqual(targets, mounts[service], service)
    }
    const key = await inside('mcp', 'cat', '/data/encryption.key')
    assert.notEqual(key.status, 0)
  })

  test('a break-in at the API cannot create a privileged container or touch a foreign one', async () => {
    const own = await inspected('api')
    const image = execFileSync('docker', ['inspect', '-f', '{{.Config.Image}}', `${stack.prefix}${name}`], {
      encoding: 'utf8',
    }).trim()
    const foreign = await stack.containerOf('mcp')
    const privileged = { Image: image, HostConfig: { Privileged: true, Binds: ['/:/host'] } }
    const socket = '/run/roost/engine.sock'
    const calls: [string, string, object | null][] = [
      ['POST', '/containers/create?name=qa-evil', privileged],
      ['POST', '/v1.41/containers/create?name=qa-evil', privileged],
      ['POST', `/containers/${foreign}/exec`, { Cmd: ['id'] }],
      ['GET', `/containers/${foreign}/json`, null],
      ['POST', `/containers/${foreign}/stop`, null],
      ['DELETE', `/containers/${foreign}?force=true`, null],
      ['PUT', `/containers/${foreign}/archive?path=%2F`, null],
      ['DELETE', `/volumes/${own.Mounts.find((mount: Loose) => mount.Destination === '/data').Name}`, null],
      ['POST', '/build', null],
    ]
    const script = `const { request } = require('node:http')
      const call = ([method, path, body]) => new Promise((done) => {
        const outgoing = request({ socketPath: '${socket}', method, path, headers: { 'content-type': 'application/json' } },
          (reply) => { reply.resume(); done(reply.statusCode) })
        outgoing.on('error', (error) => done(error.code))
        outgoing.end(body ? JSON.stringify(body) : undefined)
      });
      (async () => { const found = []; for (const each of ${JSON.stringify(calls)}) found.push(await call(each))
        console.log(JSON.stringify(found)) })()`
    const { output } = await inside('api', 'node', '-e', script)
    assert.deepEqual(JSON.parse(output), [403, 403, 403, 404, 404, 404, 404, 403, 403])
    assert.match(await docker('inspect', 'qa-evil'), /No such object/)
    assert.equal((await inspected('mcp')).State.Running, true)
    // Another id would give it the containers of another installation.
    const write = await inside('api', 'sh', '-c', 'echo other > /run/roost/install-id')
    assert.match(write.output, /Read-only file system/)
    assert.notEqual((await inside('api', 'ls', '/var/run/docker.sock')).status, 0)
  })

  test('the API cannot make a full backup, and the service `backup` runs nothing else', async () => {
    const env = ['env', 'ROOST_BACKUP_PASSPHRASE=correct horse battery']
    const { output, status } = await inside('api', ...env, 'roost', 'backup', 'list', '--repository', '/data')
    assert.equal(status, 1)
    assert.match(output, /use the service `backup` of the Compose file/)
    await assert.rejects(stack.backup('api'), /there is no command `api`/)
  })

  test('a backup while an agent works restores everything into an empty project', async () => {
    const inAgent = (script: string) =>
      docker('exec', '-w', '/home/developer', `${stack.prefix}${name}`, 'sh', '-c', script)
    await inAgent('mkdir work; seq 1 50000 > work/numbers; chmod 640 work/numbers; ln -s numbers work/link')
    const files = () => inAgent('sha256sum work/* CLAUDE.md; stat -c "%n %a %u %g %Y" work/*')
    const before = await files()
    const task = { message: '[[hold:gate]][[reply:finished]]', async_mode: true }
    const { json: accepted } = await stack.request('POST', `/api/agents/${name}/task`, task)
    await stack.model.waitForRequest(({ ended }) => ended === 'open', { timeoutMs: 120_000 })
    const repository = ['--repository', '/backups/nightly']
    assert.match(await stack.backup('run', ...repository), /^Snapshot \w{8}: 3 volumes/m)
    stack.model.release('gate')
    const row = await untilExecution(platform(), name, accepted.execution_id, isOver)
    assert.equal(row.status, 'success')

    await stack.compose('stop')
    for (const service of ['engine-filter', 'api', 'scheduler', 'mcp'])
      assert.equal((await inspected(service)).State.ExitCode, 0, service)
    await stack.loseMachine()
    const restored = await stack.backup('restore', ...repository)
    assert.match(restored, /^Restored the backup of .*: 2 agents, 3 volumes/m)
    const id = /^Set ROOST_INSTALL_ID=(\S+) in \.env/m.exec(restored)?.[1]
    if (id) await stack.set('ROOST_INSTALL_ID', id)
    await stack.compose('up', '-d')
    await stack.untilHealthy()
    stack.token = await signIn(stack)
    assert.equal(await answerOf(platform(), name, '[[recall:quince]]'), 'recall=yes')
    assert.equal(await files(), before)
  })
})

const mounts: Record<string, string[]> = {
  'engine-filter': ['/run/roost', '/var/run/docker.sock'],
  api: ['/data', '/run/roost (read-only)', '/run/roost-internal'],
  scheduler: ['/data', '/run/roost-internal (read-only)'],
  mcp: ['/run/roost-internal (read-only)'],
}
