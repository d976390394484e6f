import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type OwnMount, ownContainerId, throughOwnMounts } from './own-mounts.ts'
import { type JobMount, VolumeJobError } from './port.ts'

const own: OwnMount[] = [
  { type: 'volume', source: 'roost_data', target: '/data', readOnly: false },
  { type: 'volume', source: 'roost_cache', target: '/data/backup-cache', readOnly: false },
  { type: 'folder', source: '/srv/backups', target: '/backups', readOnly: false },
  { type: 'folder', source: '/mnt/old', target: '/old', readOnly: true },
]
const folder = (source: string, target: string, readOnly = false): JobMount => ({
  ...{ type: 'folder', source, target, readOnly },
})

test('a folder becomes the innermost mount that holds it, and volumes stay', () => {
  const volume: JobMount = { type: 'volume', volume: 'agent-a-workspace', target: '/v', readOnly: true }
  const cache = folder('/data/backup-cache', '/cache')
  assert.deepEqual(throughOwnMounts([volume, cache, folder('/backups', '/repository')], own), {
    mounts: [
      volume,
      { type: 'volume', volume: 'roost_cache', target: '/cache', readOnly: false },
      { type: 'folder', source: '/srv/backups', target: '/repository', readOnly: false },
    ],
    links: '',
  })
})

test('the engine never resolves a path inside a mount: the job links to it', () => {
  const { mounts, links } = throughOwnMounts([folder("/backups/it's/here", '/repository')], own)
  assert.deepEqual(mounts, [
    { type: 'folder', source: '/srv/backups', target: '/mounted/0', readOnly: false },
  ])
  assert.equal(links, "ln -s '/mounted/0/it'\\''s/here' '/repository'\n")
})

test('a mount that cannot be written here cannot be written in a job', () => {
  const { mounts } = throughOwnMounts([folder('/old', '/repository')], own)
  assert.equal(mounts[0]?.readOnly, true)
})

test('a folder of the container itself is refused, also one whose name begins like a mount', () => {
  for (const path of ['/tmp/x', '/backups-2', '/']) {
    const place = () => throughOwnMounts([folder(path, '/repository')], own)
    assert.throws(place, (error) => error instanceof VolumeJobError && error.message.startsWith(path))
  }
})

test('the id of this container is the one in the path of its host name', () => {
  const id = 'a1'.repeat(32)
  const line = (source: string, target: string) =>
    `690 678 254:0 ${source} ${target} rw,relatime - ext4 /dev/vda rw`
  const docker = line(`/var/lib/docker/containers/${id}/hostname`, '/etc/hostname')
  const podman = line(`/containers/overlay-containers/${id}/userdata/hostname`, '/etc/hostname')
  const other = line(`/var/lib/docker/containers/${'b2'.repeat(32)}/hosts`, '/etc/hosts')
  assert.equal(ownContainerId([other, docker].join('\n')), id)
  assert.equal(ownContainerId(podman), id)
  assert.equal(ownContainerId(other), null)
  assert.equal(ownContainerId(line('/etc/hostname', '/etc/hostname')), null)
})
