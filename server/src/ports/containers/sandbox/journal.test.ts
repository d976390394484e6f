import assert from 'node:assert/strict'
import { mkdtemp, rm, unlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { appendToJournal, type JournalEntry, journalEnd, readJournal } from './journal.ts'

const entry = (id: string): JournalEntry => ({
  type: 'removed',
  id,
  name: 'a',
  at: '2026-01-01T00:00:00.000Z',
})

async function withJournal(act: (folder: string) => Promise<void>): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'roost-journal-'))
  try {
    await act(folder)
  } finally {
    await rm(folder, { recursive: true })
  }
}

test('a reader gets each entry once, from its start position', () =>
  withJournal(async (folder) => {
    await journalEnd(folder)
    appendToJournal(folder, entry('before'))
    const place = await journalEnd(folder)
    appendToJournal(folder, entry('1'))
    appendToJournal(folder, entry('2'))
    assert.deepEqual(await readJournal(folder, place), [entry('1'), entry('2')])
    assert.deepEqual(await readJournal(folder, place), [])
  }))

test('a reader learns that the journal was replaced', () =>
  withJournal(async (folder) => {
    const place = await journalEnd(folder)
    appendToJournal(folder, entry('1'))
    await unlink(join(folder, 'events'))
    assert.equal(await readJournal(folder, place), null)
    appendToJournal(folder, entry('2'))
    assert.ok((await readJournal(folder, place)) === null)
  }))

test('a journal is replaced before it grows too large', () =>
  withJournal(async (folder) => {
    const place = await journalEnd(folder)
    const long = entry('x'.repeat(64 * 1024))
    for (let count = 0; count < 40; count += 1) appendToJournal(folder, long)
    assert.ok((await readJournal(folder, place)) === null)
  }))
