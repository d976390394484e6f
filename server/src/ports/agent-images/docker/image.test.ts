import assert from 'node:assert/strict'
import { resolve } from 'node:path'
import { after, before, describe, test } from 'node:test'
import type Docker from 'dockerode'
import { connect } from '../../containers/docker/connect.ts'
import { createOptions } from '../../containers/docker/spec.ts'
import { AgentImageError, type AgentImages, agentRuntimes } from '../port.ts'
import { readRuntimePackages } from '../runtimes.ts'
import { agentImagesSuite } from '../suite.ts'
import { createDockerAgentImages } from './docker.ts'
import { createNamedAgentImages } from './named.ts'

const root = resolve(import.meta.dirname, '../../../../..')
const url = process.env.ROOST_TEST_CONTAINERS_URL ?? 'docker:'
const docker = connect(url)
const open = () => createDockerAgentImages({ docker, root, env: process.env })

agentImagesSuite('docker', { open, runtime: 'claude-code' })

test('an image missing in its registry is refused as not_found', async () => {
  const images = createNamedAgentImages(docker, '127.0.0.1:1/nobody/{runtime}:1')
  assert.equal(images.tagFor('codex').image, '127.0.0.1:1/nobody/codex:1')
  assert.equal(await images.isReady('codex'), false)
  await assert.rejects(
    images.ensure('codex', () => {}),
    (error) =>
      error instanceof AgentImageError && error.fault === 'not_found' && /127\.0\.0\.1:1/.test(error.message),
  )
})

test('an unreachable engine is reported as engine_down', async () => {
  const images = createNamedAgentImages(connect('docker:///nowhere/docker.sock'), 'any:1')
  await assert.rejects(images.isReady('codex'), (error) => (error as AgentImageError).fault === 'engine_down')
})

describe('inside each image', () => {
  let images: AgentImages
  before(async () => {
    images = await open()
    for (const runtime of agentRuntimes) await images.ensure(runtime, () => {})
  })
  for (const runtime of agentRuntimes) {
    test(`${runtime}: the pinned CLI runs as developer`, async (t) => {
      const { command, version } = (await readRuntimePackages(root))[runtime]
      const container = await docker.createContainer({
        Image: images.tagFor(runtime).image,
        Entrypoint: [command, '--version'],
        User: '1000:1000',
        Env: ['HOME=/tmp'],
        HostConfig: { CapDrop: ['ALL'] },
      })
      t.after(() => container.remove({ force: true }))
      await container.start()
      await container.wait()
      assert.ok((await output(container)).includes(version))
    })
  }
})

describe('an agent’s container', () => {
  let container: Docker.Container
  before(async () => {
    const images = await open()
    await images.ensure('claude-code', () => {})
    container = await startAgent(images.tagFor('claude-code').image)
  })
  after(() => container.remove({ force: true, v: true }))

  test('the agent program has its own user, works as developer, and may only change users and owners', async () => {
    // It changes its user right after it has been loaded.
    const program = '$(pgrep -x node || pgrep -f ^node)'
    const changed = `grep -q '^Uid:.900.1000' /proc/${program}/status`
    await inside(container, `for i in $(seq 100); do ${changed} && break; sleep 0.1; done`)
    const status = await inside(container, `cat /proc/${program}/status`)
    assert.match(status, /^Uid:\s+900\s+1000\s+900\s+1000$/m)
    for (const set of ['CapEff', 'CapPrm', 'CapAmb'])
      assert.match(status, new RegExp(`^${set}:\\s+0{14}c1$`, 'm'))
    assert.match(status, /^NoNewPrivs:\s+1$/m)
  })

  test('its ordinary children have no capabilities and cannot read its environment', async () => {
    const output = await asOrdinaryChild(
      container,
      'grep CapEff /proc/self/status; for p in 1 $(pgrep -f ^node); do tr "\\0" "\\n" < /proc/$p/environ; done; sudo -n true',
    )
    assert.match(output, /^CapEff:\s+0{16}$/m)
    assert.match(output, /Permission denied/)
    assert.doesNotMatch(output, /planted-key/)
    assert.match(output, /no new privileges/)
  })

  test('the developer cannot change the program or its compile cache', async () => {
    const output = await asOrdinaryChild(
      container,
      'find /opt/roost ! -type l -writable | wc -l; find /opt/roost/.compile-cache -type f | wc -l; touch /opt/roost/agent/src/start.ts',
    )
    const [writable, compiled] = output.split('\n').map(Number)
    assert.equal(writable, 0)
    assert.ok((compiled ?? 0) > 10)
    assert.match(output, /Permission denied/)
  })

  test('the reader can read the workspace but not change it', async () => {
    const output = await inside(
      container,
      'setpriv --reuid 1001 --regid 1001 --init-groups --inh-caps=-all sh -c "id; ls /home/developer; touch /home/developer/x"',
    )
    assert.match(output, /uid=1001\(roost-reader\) gid=1001\(roost-reader\) groups=.*902\(roost-workspace\)/)
    assert.match(output, /Permission denied/)
  })

  test("the SSH server runs with the container's own host key, readable only by root", async () => {
    const key = '/var/lib/roost/keys/ssh_host_ed25519_key'
    await inside(container, `for i in $(seq 100); do pgrep -x sshd >/dev/null && break; sleep 0.1; done`)
    assert.match(await inside(container, `stat -c '%U %a' ${key}`), /^root 600/)
    assert.match(await asOrdinaryChild(container, `cat ${key}`), /Permission denied/)
    // The platform passes the public half on, so that clients can check it.
    assert.match(await asOrdinaryChild(container, `cat ${key}.pub`), /^ssh-ed25519 \S+/)
    assert.doesNotMatch(await inside(container, 'tr "\\0" "\\n" < /proc/$(pgrep -x sshd)/environ'), /ROOST/)
  })

  test('a stop ends the container cleanly, well within the grace period', async () => {
    const from = performance.now()
    await container.stop({ t: 10 })
    assert.ok(performance.now() - from < 8_000)
    assert.notEqual((await container.inspect()).State.ExitCode, 137)
  })
})

test('a host key of an earlier version moves out of the workspace', async (t) => {
  const images = await open()
  const { image } = images.tagFor('claude-code')
  const volume = `roost-test-keys-${process.pid}`
  const first = await startAgent(image, volume)
  await sshRuns(first)
  const moveBack = 'cd /home/developer/.roost && install -d keys && mv /var/lib/roost/keys/* keys/ && ls keys'
  // Root may not write in the folder of `developer`, so that one makes room.
  await asOrdinaryChild(first, 'chmod 777 /home/developer/.roost')
  assert.match(await inside(first, moveBack), /ssh_host_ed25519_key\.pub/)
  const before = await inside(first, 'ssh-keygen -lf /home/developer/.roost/keys/ssh_host_ed25519_key.pub')
  await first.remove({ force: true, v: true })
  const second = await startAgent(image, volume)
  t.after(async () => {
    await second.remove({ force: true, v: true })
    await docker.getVolume(volume).remove()
  })
  await sshRuns(second)
  assert.equal(await inside(second, 'ssh-keygen -lf /var/lib/roost/keys/ssh_host_ed25519_key.pub'), before)
  assert.match(await inside(second, 'ls -A /home/developer/.roost/keys 2>&1'), /^$|No such file/)
})

const sshRuns = (container: Docker.Container) =>
  inside(container, 'for i in $(seq 100); do pgrep -x sshd >/dev/null && break; sleep 0.1; done')

async function startAgent(image: string, volume?: string): Promise<Docker.Container> {
  const described = createOptions(
    {
      name: 'unused',
      image,
      labels: {},
      env: {
        AGENT_NAME: 'test',
        AGENT_RUNTIME: 'claude-code',
        ROOST_AGENT_KEY: 'planted-key',
        ROOST_LINK_URL: 'ws://127.0.0.1:9/link',
        ROOST_BROKER_URL: 'http://127.0.0.1:9/broker',
      },
      cpus: 1,
      memoryBytes: 1024 ** 3,
      maxProcesses: 512,
      tmpBytes: 64 * 1024 ** 2,
      fullCapabilities: false,
      mounts: volume ? [{ type: 'volume', volume, target: '/home/developer' }] : [],
      ssh: null,
    },
    'agent-images-test',
    'none',
    { cpus: 2, ulimits: [], canSeparate: true, canLayer: true },
  )
  const container = await docker.createContainer(described)
  await container.start()
  // The program runs once the entry script has started it.
  await inside(container, 'for i in $(seq 200); do pgrep -f ^node >/dev/null && break; sleep 0.05; done')
  return container
}

/** Both output streams of a shell command that runs as root in the container. */
async function inside(container: Docker.Container, script: string): Promise<string> {
  const exec = await container.exec({
    Cmd: ['sh', '-c', script],
    AttachStdout: true,
    AttachStderr: true,
    Tty: true,
  })
  const stream = await exec.start({ Tty: true })
  let text = ''
  for await (const chunk of stream) text += chunk
  return text.replaceAll('\r\n', '\n')
}

/** Starts a child like the agent program: with its own rights first, then dropped. */
function asOrdinaryChild(container: Docker.Container, script: string): Promise<string> {
  const quoted = script.replaceAll("'", `'\\''`)
  const rights = '--inh-caps=+setuid,+setgid --ambient-caps=+setuid,+setgid'
  const dropped = 'setpriv --ambient-caps=-all --inh-caps=-all'
  return inside(
    container,
    `HOME=/home/developer exec setpriv --reuid 1000 --regid 1000 --init-groups ${rights} ${dropped} sh -c '${quoted}'`,
  )
}

async function output(container: Docker.Container): Promise<string> {
  return (await container.logs({ stdout: true, stderr: true })).toString('utf8')
}
