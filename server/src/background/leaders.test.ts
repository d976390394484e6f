/** Leases of processes that are killed or frozen. The time is real. */
import assert from 'node:assert/strict'
import { type ChildProcess, fork } from 'node:child_process'
import { join } from 'node:path'
import { test } from 'node:test'
import { forEachDialect } from '../test/dialects.ts'

const program = join(import.meta.dirname, '../test/leading-process.ts')

/** `loops.test.ts` proves 15 seconds; here the machine may be slow. */
const limitMs = 30_000

type Report = { holder: string; what: 'ready' | 'began' | 'step' | 'ended'; at: number }

forEachDialect((_dialect, open) => {
  test('another process leads when the leader is killed', async () => {
    await using db = await open()
    await using world = openWorld(db.url)
    const [first, second] = await world.startTwo()
    const killedAt = Date.now()
    first.child.kill('SIGKILL')
    const began = await second.next('began')
    assert.ok(began.at - killedAt <= limitMs, `after ${began.at - killedAt} ms`)
  })

  test('a leader that is frozen is replaced, and does not go on when it continues', async () => {
    await using db = await open()
    await using world = openWorld(db.url)
    const [first, second] = await world.startTwo()
    const frozenAt = Date.now()
    first.child.kill('SIGSTOP')
    const began = await second.next('began')
    assert.ok(began.at - frozenAt <= limitMs, `after ${began.at - frozenAt} ms`)
    const before = first.reports.length
    first.child.kill('SIGCONT')
    await first.next('ended')
    // The step that was in progress may end; no other one begins.
    const after = first.reports.slice(before).map(({ what }) => what)
    assert.ok(after.filter((what) => what === 'step').length <= 1, after.join(', '))
    // It stands by: it leads again when the other one is killed.
    second.child.kill('SIGKILL')
    await first.next('began')
  })
})

function openWorld(url: string) {
  const children: ChildProcess[] = []
  const start = (holder: string) => {
    const child = fork(program, [url, holder], { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] })
    children.push(child)
    const reports: Report[] = []
    const waiting: { what: string; resolve(report: Report): void }[] = []
    child.on('message', (message: Omit<Report, 'at'>) => {
      const report = { ...message, at: Date.now() }
      reports.push(report)
      const due = waiting.findIndex(({ what }) => what === report.what)
      if (due >= 0) waiting.splice(due, 1)[0]?.resolve(report)
    })
    const next = (what: Report['what']) =>
      new Promise<Report>((resolve, reject) => {
        waiting.push({ what, resolve })
        child.once('exit', () => reject(new Error(`${holder} ended before it reported ${what}.`)))
      })
    return { child, reports, next }
  }
  return {
    /** The first one leads, the second one stands by. */
    async startTwo() {
      const first = start('first')
      await first.next('step')
      const second = start('second')
      await second.next('ready')
      return [first, second] as const
    },
    async [Symbol.asyncDispose]() {
      for (const child of children) {
        if (child.exitCode !== null || child.signalCode !== null) continue
        const ended = new Promise((done) => child.once('exit', done))
        child.kill('SIGKILL')
        await ended
      }
    },
  }
}
