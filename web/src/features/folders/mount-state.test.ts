import assert from 'node:assert/strict'
import { test } from 'node:test'
import { mountStateOf, readFolders } from './mount-state.ts'

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

test('a folder is mounted, pending mount or pending unmount', () => {
  assert.equal(mountStateOf(folder('a', true, 'mounted')), 'mounted')
  assert.equal(mountStateOf(folder('a', false, 'mounted')), 'coming')
  assert.equal(mountStateOf(folder('a', true, 'gone')), 'leaving')
})

test('available folders follow mounted ones, each folder once', () => {
  const rows = readFolders(
    [folder('a', true, 'mounted'), folder('b', true, 'gone')],
    [available('a'), available('c')],
  )
  assert.deepEqual(
    rows.map(({ source, mountState }) => [source, mountState]),
    [
      ['a', 'mounted'],
      ['b', 'leaving'],
      ['c', 'unread'],
    ],
  )
})
