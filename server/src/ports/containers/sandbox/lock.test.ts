import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { specOf } from '../test/harness.ts'
import { containerFiles, type StoredState, writeJson } from './folders.ts'
import { journalEnd, readJournal } from './journal.ts'
import { livingSupervisor } from './lock.ts'

const claimants = 8
let folder: string
let journal: string
const programs: ChildProcess[] = []

before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'roost-lock-'))
  journal = join(folder, 'journal')
})
after(async () => {
  for (const program of programs) program.kill('SIGKILL')
  await rm(folder, { recursive: true })
})

/** A process that claims the folder on request, reports the result and keeps running. */
async function claimant(): Promise<ChildProcess> {
  const program = `
    import { claimFolder } from ${JSON.stringify(new URL('lock.ts', import.meta.url).href)}
    process.on('message', () => process.send(claimFolder(${JSON.stringify(folder)}) !== null))
    process.send('ready')`
  const child = spawn(process.execPath, ['--input-type=module', '-e', program], {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  })
  programs.push(child)
  await once(child, 'message')
  return child
}

test('of many processes claiming the folder of a killed supervisor one succeeds, and the end is reported once', async () => {
  const spec = specOf('image', 'stay')
  const id = 'ab'.repeat(16)
  const state: StoredState = {
    runs: 3,
    status: 'running',
    pid: 1,
    startedAt: new Date(0).toISOString(),
    exitCode: null,
    oomKilled: false,
    restartAt: null,
    error: null,
  }
  const files = { spec: { id, createdAt: state.startedAt, spec }, launch: { journal }, state }
  for (const [file, value] of Object.entries(files)) {
    writeJson(join(folder, containerFiles[file as keyof typeof files]), value)
  }
  // No process has this pair: process 1 did not start with the last clock tick.
  writeJson(join(folder, containerFiles.supervisor), { pid: 1, startTicks: Number.MAX_SAFE_INTEGER })
  const place = await journalEnd(journal)

  const children = await Promise.all(Array.from({ length: claimants }, claimant))
  const answers = await Promise.all(
    children.map(async (child) => {
      const answer = once(child, 'message')
      child.send('claim')
      return (await answer)[0]
    }),
  )

  assert.equal(answers.filter((hasIt) => hasIt).length, 1)
  assert.equal((await livingSupervisor(folder))?.pid, children[answers.indexOf(true)]?.pid)
  const reported = await readJournal(journal, place)
  assert.deepEqual(
    reported?.map((entry) => [entry.type, entry.name]),
    [['exited', spec.name]],
  )
  const now = JSON.parse(await readFile(join(folder, containerFiles.state), 'utf8'))
  assert.deepEqual([now.runs, now.status, now.pid], [3, 'stopped', null])
})
