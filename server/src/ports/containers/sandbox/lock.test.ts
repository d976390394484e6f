import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { specOf } from '../suite.ts'
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

/** A process that claims the folder when told to, says what came of it, and lives on. */
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

test('of many that claim a folder whose supervisor was killed, one has it, and the end is told once', async () => {
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
  // No process has this pair: the first process did not start with the machine's last tick.
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
  const told = await readJournal(journal, place)
  assert.deepEqual(
    told?.map((entry) => [entry.type, entry.name]),
    [['exited', spec.name]],
  )
  const now = JSON.parse(await readFile(join(folder, containerFiles.state), 'utf8'))
  assert.deepEqual([now.runs, now.status, now.pid], [3, 'stopped', null])
})
