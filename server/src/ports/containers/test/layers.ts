import assert from 'node:assert/strict'
import { test } from 'node:test'
import { archiveEnd, paddingOf, type TarEntry, writeHeader } from '../../../kit/tar.ts'
import { archiveRoot, type VolumeLayers } from '../port.ts'
import { hasFault, type Opened, uniqueName } from './harness.ts'

const entry = (path: string, more: Partial<TarEntry> = {}): TarEntry => ({
  ...{ path: `${archiveRoot}/${path}`, type: 'file', link: '', size: 0, mode: 0o644, modified: 1_000_000 },
  ...more,
})

/** An archive of files; a null content is a folder. */
export async function* archiveOf(
  files: Record<string, string | null>,
  end?: () => void,
): AsyncGenerator<Buffer> {
  for (const [path, text] of Object.entries(files)) {
    if (text === null) yield writeHeader(entry(`${path}/`, { type: 'folder', mode: 0o755 }))
    else
      yield Buffer.concat([
        writeHeader(entry(path, { size: text.length })),
        Buffer.from(text),
        Buffer.alloc(paddingOf(text.length)),
      ])
  }
  end?.()
  yield archiveEnd
}

/** Cases for engines with layers. */
export function layerTests(opened: Opened): void {
  const withLayers = (title: string, act: (layers: VolumeLayers) => Promise<void>) =>
    test(title, async () => {
      const { kind, layers } = opened.containers
      if (!layers) return assert.ok(['sandbox', 'kubernetes'].includes(kind), `${kind} has layers`)
      await act(layers)
    })
  const fill = (layers: VolumeLayers, name: string, end?: () => void) =>
    layers.fill(name, {
      labels: { 'roost.platform': 'workspace-base' },
      image: opened.harness.image,
      archive: archiveOf({ folder: null, 'folder/note': 'from the base\n' }, end),
    })

  withLayers('the engine is tried once, and nothing is left of it', async (layers) => {
    const answers = await Promise.all([1, 2].map(() => layers.canUse(opened.harness.image)))
    assert.deepEqual(answers, [true, true])
    assert.deepEqual(await opened.containers.listVolumes(), [])
    assert.deepEqual(await opened.containers.list(), [])
  })

  withLayers('a base stays while a layer needs it', async (layers) => {
    const { containers } = opened
    const base = uniqueName()
    await fill(layers, base)
    assert.deepEqual(await containers.list(), [])
    await layers.add(`${base}-one`, { base, labels: { 'roost.agent-name': 'ada' } })
    await layers.add(`${base}-two`, { base, labels: {} })
    const all = [base, `${base}-one`, `${base}-two`]
    assert.deepEqual((await containers.listVolumes()).toSorted(), all)
    // As at every start of an agent.
    await containers.createVolume(`${base}-one`, {})
    const mounts = [{ type: 'volume', volume: `${base}-one`, target: '/home/developer' } as const]
    const id = await opened.running('stay', { mounts })
    assert.deepEqual((await containers.inspect(id))?.volumes, [`${base}-one`])
    await assert.rejects(containers.removeVolume(base), hasFault('volume_in_use'))
    await assert.rejects(containers.removeVolume(`${base}-one`), hasFault('volume_in_use'))
    await containers.remove(id)
    await containers.removeVolume(`${base}-one`)
    await assert.rejects(containers.removeVolume(base), hasFault('volume_in_use'))
    await layers.add(`${base}-three`, { base, labels: {} })
    for (const name of [`${base}-two`, `${base}-three`, base]) await containers.removeVolume(name)
    assert.deepEqual(await containers.listVolumes(), [])
  })

  withLayers('only a filled base takes a layer', async (layers) => {
    const { containers } = opened
    const base = uniqueName()
    const add = () => layers.add(`${base}-one`, { base, labels: {} })
    await assert.rejects(add(), hasFault('base_missing'))
    await containers.createVolume(base, {})
    await assert.rejects(add(), hasFault('base_missing'))
    await assert.rejects(fill(layers, base), hasFault('name_taken'))
    await containers.removeVolume(base)
    const failing = fill(layers, base, () => {
      throw new Error('the store failed')
    })
    await assert.rejects(failing, /the store failed/)
    assert.deepEqual([await containers.listVolumes(), await containers.list()], [[], []])
    await fill(layers, base)
    await add()
    await assert.rejects(add(), hasFault('name_taken'))
  })

  withLayers('another installation can use and remove no base', async (layers) => {
    const base = uniqueName()
    await fill(layers, base)
    const { neighbour } = opened.harness
    await assert.rejects(
      neighbour.layers?.add(`${base}-one`, { base, labels: {} }) ?? Promise.resolve(),
      hasFault('base_missing'),
    )
    await neighbour.removeVolume(base)
    await layers.add(`${base}-two`, { base, labels: {} })
  })
}
