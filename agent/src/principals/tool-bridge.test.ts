import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'
import { setImmediate as nextTick } from 'node:timers/promises'
import { createIdentities, readIdentityFacts } from '../processes/identity.ts'
import { makeTestHome } from '../test/home.ts'
import { type BridgedServer, bridgeEntry, maxConnections, openBridge } from './tool-bridge.ts'

const own = { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 }
const identities = createIdentities(readIdentityFacts(own))
let runs = 0

const shell = (script: string, env = {}): BridgedServer => ({
  command: '/bin/sh',
  args: ['-c', script],
  env: { PATH: '/usr/bin:/bin', ...env },
})

async function open(...servers: BridgedServer[]) {
  const place = makeTestHome()
  const scratch = join(place.scratch, 'turn')
  mkdirSync(scratch)
  runs += 1
  const options = {
    scratch: { path: scratch, closed: place.scratch },
    cwd: place.home,
    user: identities.developer,
    marker: `bridge-${process.pid}-${runs}`,
  }
  const bridge = await openBridge(servers, options, identities)
  const clients: { kill(signal: 'SIGKILL'): boolean }[] = []
  return {
    place,
    scratch,
    bridge,
    socket: (index = 0) => join(scratch, 'tools', String(index)),
    client(index = 0) {
      const { command, args } = bridgeEntry(scratch, index)
      const child = spawn(command, args, { stdio: ['pipe', 'pipe', 'pipe'] })
      clients.push(child)
      return Object.assign(child, { ended: once(child, 'exit') })
    },
    async [Symbol.asyncDispose]() {
      for (const client of clients) client.kill('SIGKILL')
      await bridge.close()
      place[Symbol.dispose]()
    },
  }
}

/** Output up to a line that matches. */
async function outputUntil(child: ReturnType<typeof spawn>, pattern: RegExp): Promise<string> {
  let output = ''
  for await (const data of child.stdout?.iterator({ destroyOnReturn: false }) ?? []) {
    output += data
    if (pattern.test(output)) return output
  }
  return assert.fail(`ended with ${JSON.stringify(output)}`)
}

const isAlive = (pid: number) => {
  try {
    return !/^State:\s+[ZX]/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'))
  } catch {
    return false
  }
}

async function gone(pid: number): Promise<void> {
  while (isAlive(pid)) await nextTick()
}

test('a client is the input and output of the server, in its folder and with its variables', async () => {
  await using t = await open(
    shell('exit 3'),
    shell('echo "$SECRET in $(pwd)"; exec cat', { SECRET: 'known' }),
  )
  const client = t.client(1)
  const output = text(client.stdout)
  client.stdin.end('and back')
  assert.equal(await output, `known in ${t.place.home}\nand back`)
  assert.deepEqual(await client.ended, [0, null])
})

test('much data passes in both directions at once', async () => {
  await using t = await open(shell('exec cat'))
  const client = t.client()
  const sent = 'x'.repeat(8_000_000)
  const output = text(client.stdout)
  client.stdin.end(sent)
  assert.equal((await output).length, sent.length)
})

test('nothing is read from a server while its client does not read', async () => {
  await using t = await open(shell('exec cat /dev/zero'))
  const socket = connect(t.socket())
  await once(socket, 'readable')
  const before = process.memoryUsage()
  // The kernel's buffers and one chunk on each side are full after a few turns of the loop.
  for (let turns = 0; turns < 2000; turns += 1) await nextTick()
  const { arrayBuffers, rss } = process.memoryUsage()
  assert.ok(arrayBuffers - before.arrayBuffers < 4_000_000, `${arrayBuffers}`)
  assert.ok(rss - before.rss < 100_000_000, `${rss}`)
  socket.destroy()
})

test('a server ends with a client that was killed, even if it ignores the end of its input', async () => {
  const stubborn =
    'trap "" TERM INT; (setsid sleep 1000 >/dev/null 2>&1 & echo $!); echo $$; while :; do sleep 1000; done'
  await using t = await open(shell(stubborn))
  const client = t.client()
  const pids = (await outputUntil(client, /^\d+\n\d+\n$/)).trim().split('\n').map(Number)
  for (const pid of pids) assert.equal(isAlive(pid), true)
  client.kill('SIGKILL')
  for (const pid of pids) await gone(pid)
})

test('closing ends servers, with daemons that cleared their environment', async () => {
  await using t = await open(
    shell('(env -i setsid sleep 1000 >/dev/null 2>&1 & echo $!); echo $$; exec sleep 1000'),
  )
  const client = t.client()
  const pids = (await outputUntil(client, /^\d+\n\d+\n$/)).trim().split('\n').map(Number)
  await t.bridge.close()
  assert.deepEqual(pids.map(isAlive), [false, false])
  await client.ended
  const late = t.client()
  assert.match(await text(late.stderr), /cannot be reached/)
})

test('a connection above the limit is refused until an earlier server has ended', async () => {
  await using t = await open(shell('echo ready; exec cat'))
  const clients = Array.from({ length: maxConnections }, () => t.client())
  for (const client of clients) await outputUntil(client, /ready/)
  const [first] = clients
  assert.equal(await text(t.client().stdout), '')
  first?.stdin.end()
  await first?.ended
  // The slot is free once its remains were looked for.
  for (let output = ''; output === ''; ) {
    const next = t.client()
    next.stdin.end()
    output = await text(next.stdout)
  }
})

test('a program that cannot start ends the connection', async () => {
  const impossible = { command: '/bin/cat', args: ['\0'], env: {} }
  await using t = await open({ command: '/nonexistent/server', args: [], env: {} }, impossible)
  assert.equal(await text(t.client(0).stdout), '')
  assert.equal(await text(t.client(1).stdout), '')
})

test('closing deletes nothing through a link that the turn placed', async () => {
  await using t = await open(shell('exec cat'))
  const target = join(t.place.home, 'precious')
  mkdirSync(target)
  writeFileSync(join(target, '0'), 'of the owner')
  renameSync(join(t.scratch, 'tools'), join(t.scratch, 'away'))
  symlinkSync(target, join(t.scratch, 'tools'))
  await t.bridge.close()
  assert.equal(readFileSync(join(target, '0'), 'utf8'), 'of the owner')
  rmSync(join(t.scratch, 'tools'))
  assert.equal(existsSync(target), true)
})
