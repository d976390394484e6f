import assert from 'node:assert/strict'
import { chmod, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import type { Containers } from '../port.ts'
import { hasFault, specOf, until } from '../test/harness.ts'
import { createDockerContainers } from './docker.ts'
import { openTestFilter, type TestFilter } from './engine-filter/test-filter.ts'
import { openTestEngine, type TestEngine } from './test-engine.ts'

const url = process.env.ROOST_TEST_CONTAINERS_URL ?? 'docker:'
let engine: TestEngine
let filter: TestFilter
let folder: string
const ways: Record<string, Containers> = {}

before(async () => {
  engine = await openTestEngine(url)
  const { mark: install, image } = engine
  filter = await openTestFilter({
    engineSocket: '/var/run/docker.sock',
    install,
    isAllowedImage: (name) => name === image,
  })
  const options = { install, network: install }
  ways.direct = createDockerContainers(engine.line.url, options)
  ways.filtered = createDockerContainers(`docker://${filter.socket}`, options)
  folder = await mkdtemp(join(tmpdir(), 'roost-template-'))
  await mkdir(join(folder, '.hidden/inner'), { recursive: true })
  await writeFile(join(folder, '.hidden/inner/ünï'), 'deep')
  await writeFile(join(folder, 'empty'), '')
  await writeFile(join(folder, 'run.sh'), 'x'.repeat(3_000_000), { mode: 0o777 })
  await chmod(join(folder, 'run.sh'), 0o4777)
  await symlink('../outside', join(folder, 'link'))
})
after(async () => {
  await filter?.close()
  await engine?.close()
  await rm(folder, { recursive: true, force: true })
})

const paths = ['', '/.hidden/inner/ünï', '/empty', '/run.sh', '/link'].map((path) => `/template${path}`)
const script = `stat -c '%a %u %g %s %F' ${paths.join(' ')}; cat ${paths[1]}; echo; echo ready; while :; do sleep 3600; done`

for (const way of ['direct', 'filtered']) {
  test(`a folder of the platform is in the new container and belongs to root (${way})`, async () => {
    const containers = ways[way] ?? assert.fail()
    const { id } = await containers.create(
      specOf(engine.image, 'stay', {
        env: { ROOST_TEST_SCRIPT: script },
        mounts: [{ type: 'folder', source: folder, target: '/template' }],
      }),
    )
    await containers.start(id)
    await until(async () => (await containers.logs(id, 100)).includes('ready'))
    const lines = (await containers.logs(id, 100)).trim().split('\n')
    assert.match(lines.shift() ?? '', /^700 0 0 \d+ directory$/)
    assert.deepEqual(lines, [
      '644 0 0 4 regular file',
      '644 0 0 0 regular empty file',
      '755 0 0 3000000 regular file',
      '777 0 0 10 symbolic link',
      'deep',
      'ready',
    ])
    await containers.remove(id)
  })
}

test('files that cannot be copied leave no container', async () => {
  const { filtered = assert.fail() } = ways
  const mounts = [{ type: 'folder' as const, source: folder, target: '/elsewhere' }]
  await assert.rejects(filtered.create(specOf(engine.image, 'stay', { mounts })), hasFault('engine_fault'))
  assert.deepEqual(await filtered.list(), [])
})
