import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { chmod, mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, afterEach, before, describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import type { ContainerSpec, Containers } from '../port.ts'
import { collect, hasFault, specOf, until } from '../test/harness.ts'
import { createSandboxContainers, type SandboxOptions } from './sandbox.ts'

const isRoot = process.geteuid?.() === 0
const asDeveloper = isRoot ? ['/usr/bin/setpriv', '--reuid', '1000', '--regid', '1000', '--init-groups'] : []
const shell = ['/bin/sh', '-c', 'eval "$ROOST_TEST_SCRIPT"']
const stayScript = 'trap "exit 0" TERM; echo ready; while :; do sleep 3600 & wait $!; done'

async function processes(): Promise<{ pid: number; commandLine: string }[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name))
  const lineOf = (pid: string) => readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')
  return Promise.all(pids.map(async (pid) => ({ pid: Number(pid), commandLine: await lineOf(pid) })))
}

describe('what a sandbox keeps apart, and what it outlives', () => {
  let stateDir: string
  let containers: Containers
  const options = (): SandboxOptions => ({
    install: 'one',
    stateDir,
    sweepSeconds: 0.1,
    restart: { maxExits: 5, windowSeconds: 600, firstDelayMs: 1 },
    resolveImage: (image) => ({
      // The host's interpreter is mounted where an image has it.
      readOnlyBinds: [{ source: process.execPath, target: '/opt/roost/node' }],
      command: image === 'as-root' ? shell : [...asDeveloper, ...shell],
      env: { FROM_IMAGE: 'yes' },
    }),
  })

  before(async () => {
    stateDir = await mkdtemp(join(tmpdir(), 'roost-sandbox-'))
    containers = await createSandboxContainers(options())
  })
  afterEach(async () => {
    for (const { id } of await containers.list()) await containers.remove(id)
    for (const name of await containers.listVolumes()) await containers.removeVolume(name)
  })
  after(async () => {
    // A supervisor that lost a race may still be ending, and writes its cache at exit.
    const left = async () => (await processes()).filter(({ commandLine }) => commandLine.includes(stateDir))
    await until(async () => (await left()).length === 0).catch(async () => {
      for (const { pid, commandLine } of await left()) {
        console.error(`killed after a minute: ${commandLine.replaceAll('\0', ' ')}`)
        console.error(await readFile(`/proc/${pid}/status`, 'utf8').catch(String))
        process.kill(pid, 'SIGKILL')
      }
    })
    await rm(stateDir, { recursive: true, maxRetries: 5 })
  })

  const isReady = (id: string) => until(async () => (await containers.logs(id, 1000)).includes('ready'))

  async function run(script: string, more: Partial<ContainerSpec> = {}): Promise<string> {
    const env = { ...more.env, ROOST_TEST_SCRIPT: script }
    const { id } = await containers.create(specOf('as-developer', 'stay', { ...more, env }))
    await containers.start(id)
    await isReady(id)
    return id
  }

  async function outputOf(script: string, more: Partial<ContainerSpec> = {}): Promise<string> {
    const id = await run(`${script}\n${stayScript}`, more)
    return containers.logs(id, 1000)
  }

  test('an agent sees its own processes and home, but nothing of the host', async () => {
    const output = await outputOf(
      [
        'id -u; whoami; pwd',
        'echo processes $(ls -d /proc/[0-9]* | wc -l)',
        `for path in /root /work /etc/shadow /var/log /sys ${stateDir}; do ls "$path" >/dev/null 2>&1 && echo "sees $path"; done`,
        'for path in / /usr /etc /dev /opt /run/roost; do touch "$path/x" 2>/dev/null && echo "writes $path"; done',
        'touch /home/developer/x && touch /tmp/x && echo writes home and tmp',
        'hostname | grep -q suite- && echo own hostname',
        'echo image $FROM_IMAGE',
      ].join('; '),
    )
    assert.match(output, /^1000\ndeveloper\n\/home\/developer\n/)
    assert.ok(Number(/processes (\d+)/.exec(output)?.[1]) <= 6)
    assert.doesNotMatch(output, /sees|writes \//)
    assert.match(output, /writes home and tmp/)
    assert.match(output, /own hostname/)
    assert.match(output, /image yes/)
  })

  test('an agent has only loopback and the platform’s socket', async () => {
    const { hostAddress } = await containers.ensureNetwork()
    assert.equal(hostAddress.type, 'unix')
    const path = hostAddress.type === 'unix' ? hostAddress.path : ''
    const hidden = createServer((socket) => socket.end('secret'))
    await new Promise<void>((resolve) => hidden.listen(0, '127.0.0.1', resolve))
    const hiddenPort = (hidden.address() as { port: number }).port
    const platform = createServer((socket) => socket.end('welcome home\n'))
    await new Promise<void>((resolve) => platform.listen(path, resolve))
    await chmod(path, 0o666)
    const say = (target: string) =>
      `/opt/roost/node -e 'const s = require("net").connect(${target}); s.on("data", (d) => console.log(String(d))); s.on("error", (e) => console.log(e.code))'`
    try {
      const output = await outputOf(
        [
          'echo interfaces $(grep -c : /proc/net/dev)',
          say('process.env.ROOST_GATEWAY_SOCKET'),
          say(`{ host: "127.0.0.1", port: ${hiddenPort} }`),
          say('{ host: "192.0.2.1", port: 80 }'),
        ].join('; '),
        // Where memory is limited per process, an interpreter needs this much to start.
        { memoryBytes: 2 ** 30 },
      )
      assert.match(output, /interfaces 1\n/)
      assert.match(output, /welcome home/)
      assert.match(output, /ECONNREFUSED/)
      assert.match(output, /ENETUNREACH/)
      assert.doesNotMatch(output, /secret/)
    } finally {
      platform.close()
      hidden.close()
    }
  })

  test('two agents see nothing of each other', async () => {
    await containers.createVolume('other-home', {})
    const mounts: ContainerSpec['mounts'] = [
      { type: 'volume', volume: 'other-home', target: '/home/developer' },
    ]
    await run(`echo private > note; sleep 4321 & ${stayScript}`, { mounts })
    const output = await outputOf('cat /proc/[0-9]*/cmdline | tr "\\0" " "; ls -a /home /home/developer')
    assert.doesNotMatch(output, /4321|note/)
  })

  test("root has the contract's privileges, other users have none", async () => {
    const { id } = await containers.create(
      specOf('as-root', 'stay', {
        env: { ROOST_TEST_SCRIPT: `grep -E "^(CapEff|NoNewPrivs):" /proc/self/status; ${stayScript}` },
      }),
    )
    await containers.start(id)
    await isReady(id)
    const output = await containers.logs(id, 100)
    const usual = (1n << 0n) | (1n << 6n) | (1n << 7n) | (1n << 10n) | (1n << 18n) | (1n << 29n)
    assert.equal(BigInt(`0x${/CapEff:\s*(\w+)/.exec(output)?.[1]}`), isRoot ? usual : 0n)
    assert.match(output, /NoNewPrivs:\s*1/)
  })

  test('nothing of the host can be changed from inside, not even by root', async () => {
    const script = [
      'for f in /proc/sys/kernel/core_pattern /proc/sys/kernel/hostname /proc/sysrq-trigger; do (exec 3>> $f) 2>/dev/null && echo "opens $f"; done',
      'chmod 640 /dev/zero 2>/dev/null',
      'cat /proc/keys /proc/timer_list 2>/dev/null | head -1',
      'ls /proc/acpi 2>/dev/null',
      'for path in /usr/bin /opt/roost/node; do chmod 700 $path 2>/dev/null && echo "changes $path"; done',
      'echo through > /dev/null && head -c 1 /dev/urandom | wc -c',
      stayScript,
    ].join('\n')
    const { id } = await containers.create(specOf('as-root', 'stay', { env: { ROOST_TEST_SCRIPT: script } }))
    await containers.start(id)
    await isReady(id)
    assert.equal(await containers.logs(id, 100), '1\nready\n')
    try {
      assert.equal((await stat('/dev/zero')).mode & 0o777, 0o666)
    } finally {
      if (isRoot) await chmod('/dev/zero', 0o666)
    }
  })

  test('the environment is in no process list', async () => {
    await run(stayScript, { env: { ROOST_AGENT_KEY: 'k-0987654321' } })
    for (const { commandLine } of await processes())
      assert.ok(!commandLine.includes('k-0987654321'), commandLine)
  })

  test('a zero byte in a value cannot add arguments', async () => {
    const spec = specOf('as-developer', 'stay', { env: { X: 'a\0--share-net' } })
    await assert.rejects(containers.create(spec), hasFault('engine_fault'))
  })

  test('/tmp is small, and noexec where root can enforce it', async () => {
    const output = await outputOf(
      'head -c 20000000 /dev/zero 2>/dev/null > /tmp/big || echo full; rm -f /tmp/big; cp /bin/true /tmp/x; /tmp/x && echo ran',
    )
    assert.match(output, /full/)
    assert.equal(/ran/.test(output), !isRoot)
  })

  test('the number of processes is limited', async () => {
    // Only shell built-ins after the first line: nothing else can be started then.
    const output = await outputOf(
      '(for i in $(seq 60); do sleep 300 & done) 2>/dev/null; set -- /proc/[0-9]*; echo have $#; kill -9 -1',
      { maxProcesses: 20 },
    )
    assert.ok(Number(/have (\d+)/.exec(output)?.[1]) <= 22, output)
  })

  test('a container survives a killed platform, and the next one finds it', async () => {
    const spec = specOf('as-developer', 'stay')
    const program = `
      import { createSandboxContainers } from ${JSON.stringify(fileURLToPath(new URL('sandbox.ts', import.meta.url)))}
      const containers = await createSandboxContainers({
        install: 'one', stateDir: ${JSON.stringify(stateDir)},
        resolveImage: () => ({ readOnlyBinds: [], command: ${JSON.stringify([...asDeveloper, ...shell])}, env: {} }),
      })
      const { id } = await containers.create(${JSON.stringify(spec)})
      await containers.start(id)
      process.kill(process.pid, 'SIGKILL')`
    const platform = spawn(process.execPath, ['--input-type=module', '-e', program], { stdio: 'inherit' })
    const signal = await new Promise((resolve) => platform.once('exit', (_, name) => resolve(name)))
    assert.equal(signal, 'SIGKILL')
    const [state] = await containers.list()
    assert.equal(state?.name, spec.name)
    assert.equal(state?.status, 'running')
    await isReady(state?.id ?? '')
    await containers.stop(state?.id ?? '', 10)
    assert.equal((await containers.inspect(state?.id ?? ''))?.exitCode, 0)
  })

  test('a killed supervisor takes its container along, and the end is reported', async () => {
    const id = await run(stayScript)
    const folder = join(stateDir, 'one', 'containers', id)
    const { pid } = JSON.parse(await readFile(join(folder, 'supervisor.json'), 'utf8'))
    const { pid: first } = JSON.parse(await readFile(join(folder, 'state.json'), 'utf8'))
    const events = collect(containers)
    try {
      await events.next('resync')
      process.kill(pid, 'SIGKILL')
      const exited = await events.next('exited', id)
      assert.equal(exited.exitCode, null)
      assert.equal((await containers.inspect(id))?.status, 'stopped')
      await until(async () => (await readFile(`/proc/${first}/stat`, 'utf8').catch(() => '')) === '')
      await containers.start(id)
      await events.next('started', id)
    } finally {
      await events.stop()
    }
  })

  test('the fifth end within ten minutes is final, and an explicit start resets the count', async () => {
    const events = collect(containers)
    try {
      await events.next('resync')
      const { id } = await containers.create(specOf('as-developer', 'fail'))
      await containers.start(id)
      for (let ends = 0; ends < 5; ends += 1) await events.next('exited', id)
      // Its supervisor has ended, so nothing more follows.
      await until(
        async () => !(await readdir(join(stateDir, 'one', 'containers', id))).includes('supervisor.json'),
      )
      assert.equal(events.seen.filter((event) => event.type === 'exited').length, 5)
      assert.equal((await containers.inspect(id))?.status, 'stopped')
      await containers.start(id)
      await events.next('exited', id)
      await containers.stop(id, 0)
    } finally {
      await events.stop()
    }
  })

  test('concurrent starts of one container cause one run', async () => {
    const { id } = await containers.create(specOf('as-developer', 'stay'))
    const others = await Promise.all(Array.from({ length: 4 }, () => createSandboxContainers(options())))
    await Promise.all([containers, ...others].map((adapter) => adapter.start(id)))
    await isReady(id)
    const state = JSON.parse(await readFile(join(stateDir, 'one', 'containers', id, 'state.json'), 'utf8'))
    assert.equal(state.runs, 1)
    assert.equal((await containers.logs(id, 100)).match(/ready/g)?.length, 1)
  })

  test('concurrent starts of a container that waits for its restart cause one run', async () => {
    const patient = { ...options(), restart: { maxExits: 5, windowSeconds: 600, firstDelayMs: 600_000 } }
    const adapters = await Promise.all(Array.from({ length: 5 }, () => createSandboxContainers(patient)))
    await containers.createVolume('once', {})
    const { id } = await containers.create(
      specOf('as-developer', 'stay', {
        mounts: [{ type: 'volume', volume: 'once', target: '/home/developer' }],
        env: { ROOST_TEST_SCRIPT: `mkdir /home/developer/once && exit 3; ${stayScript}` },
      }),
    )
    await adapters[0]?.start(id)
    const stateNow = async () =>
      JSON.parse(await readFile(join(stateDir, 'one', 'containers', id, 'state.json'), 'utf8'))
    await until(async () => (await stateNow()).restartAt !== null)
    await Promise.all(adapters.map((adapter) => adapter.start(id)))
    await isReady(id)
    assert.equal((await stateNow()).runs, 2)
    assert.equal((await containers.inspect(id))?.status, 'running')
  })

  test('concurrent starts of a container whose supervisor was killed cause one run', async () => {
    const others = await Promise.all(Array.from({ length: 4 }, () => createSandboxContainers(options())))
    const id = await run(stayScript)
    const folder = join(stateDir, 'one', 'containers', id)
    const { pid } = JSON.parse(await readFile(join(folder, 'supervisor.json'), 'utf8'))
    process.kill(pid, 'SIGKILL')
    await until(async () => (await containers.inspect(id))?.status === 'stopped')
    await Promise.all([containers, ...others].map((adapter) => adapter.start(id)))
    const state = JSON.parse(await readFile(join(folder, 'state.json'), 'utf8'))
    assert.deepEqual([state.runs, state.status], [2, 'running'])
    await until(async () => (await containers.logs(id, 100)).match(/ready/g)?.length === 2)
  })

  test('a supervisor that comes after the run has been stopped does not start it again', async () => {
    const id = await run(stayScript)
    await containers.stop(id, 0)
    const folder = join(stateDir, 'one', 'containers', id)
    const program = fileURLToPath(new URL('supervisor.ts', import.meta.url))
    const late = spawn(process.execPath, [program, folder, '0'], { stdio: 'ignore' })
    assert.equal(await new Promise((resolve) => late.once('exit', resolve)), 0)
    assert.equal((await containers.inspect(id))?.status, 'stopped')
    assert.equal((await containers.logs(id, 100)).match(/ready/g)?.length, 1)
  })

  test('names that are unsafe as file names are refused', async () => {
    for (const name of ['../escape', 'a/b', '', '.hidden']) {
      await assert.rejects(
        containers.create(specOf('as-developer', 'stay', { name })),
        hasFault('engine_fault'),
      )
      await assert.rejects(containers.createVolume(name, {}), hasFault('engine_fault'))
    }
    assert.equal(await containers.inspect('../../..'), null)
  })

  test('weaknesses are described in sentences', () => {
    assert.equal(containers.isolation.level, 'sandbox')
    assert.ok(containers.isolation.weaker.length >= 4)
    for (const sentence of containers.isolation.weaker) assert.match(sentence, /^[A-Z].*\.$/)
  })

  test('a data folder too deep for a socket is refused with the name of its variable', async () => {
    const deep = join(stateDir, 'x'.repeat(100))
    await assert.rejects(createSandboxContainers({ ...options(), stateDir: deep }), /ROOST_DATA_DIR/)
  })
})
