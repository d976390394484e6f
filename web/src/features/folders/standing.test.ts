import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readFolders, standingOf } from './standing.ts'

const folder = (source: string, currently_mounted: boolean, after_restart: 'mounted' | 'gone') => ({
  source_agent: source,
  mount_path: `/home/developer/shared-in/${source}`,
  access_mode: 'rw' as const,
  currently_mounted,
  after_restart,
})
const available = (source: string) => ({
  source_agent: source,
  volume_name: 'v',
  mount_path: `/home/developer/shared-in/${source}`,
  source_status: 'running' as const,
})

test('a folder is there, comes with the next start, or goes with it', () => {
  assert.equal(standingOf(folder('a', true, 'mounted')), 'mounted')
  assert.equal(standingOf(folder('a', false, 'mounted')), 'coming')
  assert.equal(standingOf(folder('a', true, 'gone')), 'leaving')
})

test('what might be read stands behind what is, and each folder once', () => {
  const rows = readFolders(
    [folder('a', true, 'mounted'), folder('b', true, 'gone')],
    [available('a'), available('c')],
  )
  assert.deepEqual(
    rows.map(({ source, standing }) => [source, standing]),
    [
      ['a', 'mounted'],
      ['b', 'leaving'],
      ['c', 'unread'],
    ],
  )
})
