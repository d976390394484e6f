import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { maxTerminals, terminalAbandonedSeconds } from '@roost/contracts/link/exec'
import { createFakeClock } from '../kit/fake-clock.ts'
import { createIdentities } from '../processes/identity.ts'
import { makeTestHome } from '../test/home.ts'
import { createTerminals } from './terminals.ts'

const identities = createIdentities({
  uid: process.getuid?.() ?? 0,
  hasAmbient: false,
  homeOwner: { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 },
  hasSetpriv: false,
})

/** A shell without startup files; the test sets its prompt. */
const own = { PATH: process.env.PATH ?? '', PS1: 'ready$ ', SHELL: '/bin/sh' }

function openWorld() {
  const place = makeTestHome()
  const clock = createFakeClock()
  const terminals = createTerminals({
    home: place.home,
    identities,
    clock,
    environment: async (over) => ({ ...own, HOME: place.home, ...over }),
  })

  async function open(id = 't', size = { cols: 80, rows: 24 }) {
    assert.deepEqual(await terminals.open(id, size), { outcome: 'opened' })
    let offset = 0
    let typed = 0
    let text = ''
    const read = async () => {
      const answer = await terminals.read(id, offset)
      const bytes = Buffer.from(answer.data_base64, 'base64')
      offset += bytes.length
      text += bytes.toString('utf8')
      return answer.ended
    }
    return {
      async type(keys: string) {
        const bytes = Buffer.from(keys)
        typed = (await terminals.write(id, typed, bytes)).taken
      },
      /** Reads on until this was written since the last such look. */
      async until(wanted: string) {
        while (!text.includes(wanted)) if (await read()) assert.fail(`it ended before ${wanted}: ${text}`)
        const end = text.indexOf(wanted) + wanted.length
        const before = text.slice(0, end)
        text = text.slice(end)
        return before
      },
      async ended() {
        for (;;) {
          const ended = await read()
          if (ended) return ended.exit_code
        }
      },
      offset: () => offset,
    }
  }

  return {
    terminals,
    clock,
    open,
    async [Symbol.asyncDispose]() {
      await terminals.closeAll()
      place[Symbol.dispose]()
    },
  }
}

/** Processes with this argument. */
const running = (argument: string) =>
  readdirSync('/proc').filter((pid) => {
    try {
      return readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0').includes(argument)
    } catch {
      return false
    }
  }).length

/** Resolves when none are left; killed processes take a moment. */
async function allExited(...given: string[]): Promise<void> {
  const deadline = AbortSignal.timeout(60_000)
  while (given.some((argument) => running(argument) > 0)) {
    assert.ok(!deadline.aborted, `left behind: ${given}`)
    await new Promise((done) => setImmediate(done))
  }
}

test('input runs in a real terminal of the requested size', async () => {
  await using world = openWorld()
  const shell = await world.open('t', { cols: 100, rows: 30 })
  await shell.until('ready$ ')
  await shell.type('tty; stty size; echo "$TERM $PWD" | tr / :\n')
  assert.match(await shell.until('xterm-256color'), /\/dev\/pts\/\d+\r\n30 100\r\n/)
  await world.terminals.resize('t', { cols: 40, rows: 9 })
  await shell.type('stty size\n')
  await shell.until('9 40')
})

test('the end of the shell follows its last output, with its exit code', async () => {
  await using world = openWorld()
  const shell = await world.open()
  await shell.type('sleep 4711 & echo last; exit 7\n')
  assert.equal(await shell.ended(), 7)
  await allExited('4711')
  assert.deepEqual(await world.terminals.read('t', shell.offset()), {
    data_base64: '',
    ended: { exit_code: 7 },
  })
})

test('an interrupt reaches the foreground program even while its output is unread', async () => {
  await using world = openWorld()
  const shell = await world.open()
  await shell.until('ready$ ')
  await shell.type('yes 1234567890\n')
  await shell.until('1234567890\r\n1234567890')
  await shell.type('\u0003')
  await shell.until('ready$ ')
  await shell.type('echo "code $?"\n')
  await shell.until('code 130')
})

test('a repeated read returns the same output, and repeated input is typed once', async () => {
  await using world = openWorld()
  const shell = await world.open()
  await shell.until('ready$ ')
  const at = shell.offset()
  const line = Buffer.from('echo $((6 * 7))\n')
  assert.deepEqual(await world.terminals.write('t', 0, line), { taken: line.length })
  assert.deepEqual(await world.terminals.write('t', 0, line), { taken: line.length })
  await assert.rejects(world.terminals.write('t', 99, line), /missing/)
  const first = await world.terminals.read('t', at)
  const again = await world.terminals.read('t', at)
  assert.equal(again.data_base64, first.data_base64)
  await assert.rejects(world.terminals.read('t', at - 1), /no longer available/)
  assert.equal((await shell.until('ready$ ')).split('42').length, 2)
})

test('a closed terminal leaves no process behind, not even one detached from its session', async () => {
  await using world = openWorld()
  const shell = await world.open()
  await shell.type('nohup setsid sleep 4712 >/dev/null 2>&1 & sleep 4713 & echo begun; sleep 4714\n')
  await shell.until('begun\r\n')
  await world.terminals.close('t')
  await allExited('4712', '4713', '4714')
  await assert.rejects(world.terminals.read('t', 0), /terminal does not exist/)
  assert.deepEqual(await world.terminals.close('t'), { ok: true })
})

test('the end of a program in the shell does not end the terminal', async () => {
  await using world = openWorld()
  const shell = await world.open()
  await shell.until('ready$ ')
  let isTold = false
  void world.terminals.read('t', shell.offset()).then(() => {
    isTold = true
  })
  await world.terminals.closeAll()
  await new Promise((done) => setImmediate(done))
  assert.equal(isTold, false)
})

test('an abandoned terminal is ended; one with a waiting reader is not', async () => {
  await using world = openWorld()
  const shell = await world.open()
  await shell.until('ready$ ')
  const waiting = world.terminals.read('t', shell.offset())
  await world.clock.advance(10_000)
  await world.clock.advance(5_000)
  await waiting
  await world.clock.advance((terminalAbandonedSeconds - 1) * 1000)
  assert.deepEqual(world.clock.pending(), [1_000])
  await world.clock.advance(1_000)
  await assert.rejects(world.terminals.read('t', shell.offset()), /terminal does not exist/)
  await world.terminals.closeAll()
})

test('concurrent opens never exceed the terminal limit', async () => {
  await using world = openWorld()
  const size = { cols: 80, rows: 24 }
  const opens = Array.from({ length: 20 }, (_, index) => world.terminals.open(`t${index}`, size))
  const outcomes = (await Promise.all(opens)).map(({ outcome }) => outcome)
  assert.equal(outcomes.filter((outcome) => outcome === 'opened').length, maxTerminals)
  assert.equal(outcomes.filter((outcome) => outcome === 'too_many').length, 20 - maxTerminals)
  await world.terminals.close(`t${outcomes.indexOf('opened')}`)
  assert.deepEqual(await world.terminals.open('another', size), { outcome: 'opened' })
})
