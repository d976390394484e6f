import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { ContainerSpec, Containers, VolumeLayers } from '../port.ts'
import { hasFault, specOf, uniqueName, until } from '../test/harness.ts'
import { archiveOf } from '../test/layers.ts'
import { createDockerContainers } from './docker.ts'
import { filledOf, fillerKind, upperOf } from './overlay.ts'
import { openTestEngine, type TestEngine } from './test-engine.ts'

let engine: TestEngine
let containers: Containers
let layers: VolumeLayers
before(async () => {
  engine = await openTestEngine(process.env.ROOST_TEST_CONTAINERS_URL ?? 'docker:')
  containers = createDockerContainers(engine.line.url, { install: engine.mark, network: engine.mark })
  if (!containers.layers) throw new Error('Docker has layers.')
  layers = containers.layers
})
after(() => engine.close())

const files = {
  folder: null,
  'folder/note': 'from the base\n',
  'folder/other': 'other\n',
  large: 'x'.repeat(1_000_000),
}
async function newBase(): Promise<string> {
  const name = uniqueName()
  await layers.fill(name, { labels: {}, image: engine.image, archive: archiveOf(files) })
  return name
}

/** Runs a script in a container of an agent that may use sudo, and returns its output. */
async function outputOf(script: string, volume: string): Promise<string> {
  const mounts: ContainerSpec['mounts'] = [{ type: 'volume', volume, target: '/home/developer' }]
  const env = { ROOST_TEST_SCRIPT: `cd /home/developer; ${script}; echo end; while :; do sleep 60; done` }
  const { id } = await containers.create(
    specOf(engine.image, 'stay', { mounts, env, fullCapabilities: true }),
  )
  await containers.start(id)
  await until(async () => (await containers.logs(id, 100)).trimEnd().endsWith('end'))
  const output = await containers.logs(id, 100)
  await containers.remove(id)
  return output.trimEnd().replace(/\n?end$/, '')
}

test('a base counts as filled only when its files are on the disk', async () => {
  const name = uniqueName()
  const seen: unknown[] = []
  const { layers: unflushed } = createDockerContainers(engine.line.url, {
    ...{ install: engine.mark, network: engine.mark },
    async flush(mountpoint) {
      seen.push(
        mountpoint.endsWith(`/${name}/_data`),
        (await containers.listVolumes()).includes(filledOf(name)),
      )
      throw new Error('the disk fails')
    },
  })
  const options = { labels: {}, image: engine.image, archive: archiveOf(files) }
  await assert.rejects(async () => unflushed?.fill(name, options), /the disk fails/)
  assert.deepEqual(seen, [true, false])
  assert.ok(!(await containers.listVolumes()).some((volume) => volume.startsWith(name)))
})

test('what one layer changes reaches neither its base nor another layer', async () => {
  const base = await newBase()
  const [one, two, three] = ['one', 'two', 'three'].map((name) => `${base}-${name}`) as [
    string,
    string,
    string,
  ]
  for (const name of [one, two]) await layers.add(name, { base, labels: {} })
  const show = 'ls; cat folder/note; stat -c "%a %h" folder'
  const untouched = 'folder\nlarge\nfrom the base\n755 2'
  assert.equal(await outputOf(show, two), untouched)
  const attack = [
    'echo changed > folder/note',
    'rm folder/other large',
    'chmod 700 folder',
    'mkdir new',
    'echo new > new/file',
  ].join('; ')
  assert.equal(await outputOf(`${attack}; ls; ls folder; cat folder/note`, one), 'folder\nnew\nnote\nchanged')
  assert.equal(
    await outputOf('ls; cat folder/note new/file', one),
    'folder\nnew\nchanged\nnew',
    'after a restart',
  )
  await layers.add(three, { base, labels: {} })
  for (const name of [two, three]) assert.equal(await outputOf(show, name), untouched)
  // Nothing of the host or of other volumes shows where the layer is mounted.
  assert.match(
    await outputOf('grep " /home/developer " /proc/mounts', one),
    /^overlay \/home\/developer overlay rw/,
  )
})

test('a layer behaves like any folder: renames of folders, links between files, times', async () => {
  const base = await newBase()
  const name = `${base}-one`
  await layers.add(name, { base, labels: {} })
  const script = [
    // busybox copies what it cannot rename; the inode shows it.
    'before=$(stat -c %i folder)',
    'mv folder moved',
    '[ "$before" = "$(stat -c %i moved)" ] && echo renamed',
    'cat moved/note',
    'inode=$(stat -c %i moved/other); echo more >> moved/other; [ "$inode" = "$(stat -c %i moved/other)" ] && echo same file',
    '[ "$(stat -c %d .)" = "$(stat -c %d moved/note)" ] && echo one device',
  ].join('; ')
  assert.equal(await outputOf(script, name), 'renamed\nfrom the base\nsame file\none device')
})

test('a layer takes the space of what it changes', async () => {
  const base = await newBase()
  const name = `${base}-one`
  await layers.add(name, { base, labels: {} })
  await outputOf('head -c 300000 /dev/urandom > mine', name)
  const { volumes } = await containers.diskFigures()
  const [own = 0, whole = 0] = [volumes.get(name), volumes.get(base)]
  assert.ok(own >= 300_000 && own < 400_000, String(own))
  assert.ok(whole >= 1_000_000 && whole < 1_100_000, String(whole))
  assert.equal(volumes.has(upperOf(name)), false)
})

test('a killed process leaves no base that is taken for a filled one, and all of it is removed', async () => {
  const base = await newBase()
  // As after a kill before the end of the fill.
  await engine.docker.getVolume(filledOf(base)).remove()
  const mounts: ContainerSpec['mounts'] = [{ type: 'volume', volume: base, target: '/volume' }]
  const labels = { 'roost.platform': fillerKind }
  await containers.create({ ...specOf(engine.image, 'stay', { mounts, labels }), name: `${base}-filler` })
  await assert.rejects(layers.add(`${base}-one`, { base, labels: {} }), hasFault('base_missing'))
  await containers.removeVolume(base)
  // As after a kill in the middle of the creation of a layer.
  const other = await newBase()
  await layers.add(`${other}-one`, { base: other, labels: {} })
  await engine.docker.getVolume(`${other}-one`).remove()
  await containers.removeVolume(`${other}-one`)
  await containers.removeVolume(other)
  const found = await engine.docker.listVolumes({ filters: JSON.stringify({ name: [base, other] }) })
  assert.deepEqual(found.Volumes ?? [], [])
  const names = JSON.stringify({ name: [`${base}-filler`] })
  assert.deepEqual(await engine.docker.listContainers({ all: true, filters: names }), [])
})

test('what a killed process had written into a layer is not part of a new one', async () => {
  const base = await newBase()
  const name = `${base}-one`
  await layers.add(name, { base, labels: {} })
  await outputOf('echo old > old', name)
  await engine.docker.getVolume(name).remove()
  await layers.add(name, { base, labels: {} })
  assert.equal(await outputOf('ls', name), 'folder\nlarge')
})
