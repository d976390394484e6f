import { createHash } from 'node:crypto'
import { createReadStream, createWriteStream } from 'node:fs'
import { mkdir, mkdtemp, open, readFile, realpath, rename, rm, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { Readable, Transform } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { pipeline } from 'node:stream/promises'
import { createGunzip, createGzip } from 'node:zlib'
import { extract, type Header, pack } from 'tar-stream'
import { run } from '../machine/run.ts'
import { ReleaseError } from './error.ts'

export type ImageArchive = {
  /** Names of images that the container engine has. */
  images: string[]
  /** Path of the archive. */
  to: string
  /** Upper limit of all times in the archive, in seconds since 1970. */
  epoch: number
  /** Receives the number of written layers and of all layers. */
  onLayer?: (written: number, all: number) => void
  signal?: AbortSignal
}

/** What `docker save` writes, in all its versions: one entry per image. Paths are relative to the archive. */
type SavedImage = { Config: string; RepoTags: string[] | null; Layers: string[] }
type Layer = { file: string; diffId: string }

/**
 * Writes images as one archive for `docker load`. Builds with the same content give the same bytes, whenever they
 * ran: times are limited to `epoch`, and traces of the build are removed. Throws `ReleaseError`.
 */
export async function writeImageArchive(options: ImageArchive): Promise<void> {
  const { images, to, epoch, onLayer, signal } = options
  const folder = await mkdtemp(join(dirname(to), '.images-'))
  try {
    const saved = join(folder, 'saved')
    await saveImages(images, saved, signal)
    // The container engine defines this format.
    const manifest = JSON.parse(await readFile(join(saved, 'manifest.json'), 'utf8')) as SavedImage[]
    manifest.sort((a, b) => ((a.RepoTags?.[0] ?? '') < (b.RepoTags?.[0] ?? '') ? -1 : 1))
    const layers = new Map<string, Layer>()
    const paths = new Set(manifest.flatMap((image) => image.Layers))
    for (const path of paths) {
      // The engine writes a layer that several images share as links to one file.
      const real = await realpath(join(saved, path))
      const known = [...layers.values()].find(({ file }) => file === real)
      layers.set(path, known ?? (await normalizeLayer(real, epoch, signal)))
      onLayer?.(layers.size, paths.size)
    }
    const draft = join(folder, 'archive')
    await writeArchive(draft, await contentsOf(saved, manifest, layers, epoch), epoch, signal)
    await rename(draft, to)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

async function saveImages(images: string[], folder: string, signal?: AbortSignal): Promise<void> {
  const archive = `${folder}.tar`
  await mkdir(folder)
  const commands: [string, string[]][] = [
    ['docker', ['save', '-o', archive, ...images]],
    ['tar', ['-xf', archive, '-C', folder]],
  ]
  for (const [file, args] of commands) {
    const { code, lastLines } = await run(file, args, signal ? { signal } : {})
    if (code !== 0) throw new ReleaseError(`${images.join(', ')}: ${file} failed: ${lastLines.join('\n')}`)
  }
  await rm(archive)
}

/** A file of the archive: its text, or the path of its content. */
type Entry = { name: string; content: { text: string } | { path: string } }

async function contentsOf(
  saved: string,
  manifest: SavedImage[],
  layers: Map<string, Layer>,
  epoch: number,
): Promise<Entry[]> {
  const files = new Map<string, Entry>()
  const index: SavedImage[] = []
  for (const image of manifest) {
    const own = image.Layers.map((path) => layers.get(path)).filter((layer) => layer !== undefined)
    const text = imageConfig(await readFile(join(saved, image.Config), 'utf8'), own, epoch)
    const config = `${createHash('sha256').update(text).digest('hex')}.json`
    files.set(config, { name: config, content: { text } })
    for (const { file, diffId } of own)
      files.set(layerName(diffId), { name: layerName(diffId), content: { path: file } })
    index.push({
      Config: config,
      RepoTags: image.RepoTags,
      Layers: own.map(({ diffId }) => layerName(diffId)),
    })
  }
  const sorted = [...files.values()].sort((a, b) => (a.name < b.name ? -1 : 1))
  return [...sorted, { name: 'manifest.json', content: { text: JSON.stringify(index) } }]
}

const layerName = (diffId: string) => `${diffId}.tar`

type ImageConfig = {
  architecture: string
  variant?: string
  os: string
  config: Record<string, unknown> & { Image?: string; Hostname?: string }
  history: ({ created: string } & Record<string, unknown>)[]
}

/** Keeps what runs containers, and drops the traces of the build: its time, its containers, its parent image. */
function imageConfig(text: string, layers: Layer[], epoch: number): string {
  // The image specification defines this format.
  const { architecture, variant, os, config, history } = JSON.parse(text) as ImageConfig
  const created = new Date(epoch * 1000).toISOString()
  const { Image: _, Hostname: __, ...kept } = config
  return JSON.stringify({
    architecture,
    ...(variant ? { variant } : {}),
    os,
    created,
    config: kept,
    history: history.map((step) => ({ ...step, created })),
    rootfs: { type: 'layers', diff_ids: layers.map(({ diffId }) => `sha256:${diffId}`) },
  })
}

/** Rewrites a layer in place. */
async function normalizeLayer(file: string, epoch: number, signal?: AbortSignal): Promise<Layer> {
  const draft = `${file}.normal`
  const hash = createHash('sha256')
  const hashing = new Transform({
    transform(chunk: Buffer, _, done) {
      hash.update(chunk)
      done(null, chunk)
    },
  })
  const input = extract()
  const output = pack()
  const reading = (await isGzip(file))
    ? pipeline(createReadStream(file), createGunzip(), input, { signal })
    : pipeline(createReadStream(file), input, { signal })
  const writing = pipeline(output, hashing, createWriteStream(draft), { signal })
  const copying = (async () => {
    for await (const entry of input) {
      const path = entry.header.name.replace(/^\.?\//, '')
      if (isTrace(path, entry.header)) {
        entry.resume()
        continue
      }
      const header = normalHeader(entry.header, epoch)
      if (/^etc\/g?shadow$/.test(path)) {
        output.entry(header, withoutDays(await buffer(entry), epoch))
        continue
      }
      await pipeline(entry, output.entry(header))
    }
    output.finalize()
  })()
  await Promise.all([reading, copying, writing])
  await rename(draft, file)
  return { file, diffId: hash.digest('hex') }
}

/** Files whose content depends on when and where a build ran. No program of the images reads them. */
function isTrace(path: string, { type }: Header): boolean {
  if (type === 'directory') return false
  return /^(var\/log\/|root\/\.npm\/|var\/cache\/ldconfig\/|etc\/(passwd|group|g?shadow|sub[ug]id)-$)/.test(
    path,
  )
}

function normalHeader(header: Header, epoch: number): Header {
  const { pax, ...rest } = header
  const attributes = Object.entries(pax ?? {}).filter(([name]) => name.startsWith('SCHILY.xattr.'))
  // The library reads values as text, which damages binary ones. No file of the images has any.
  if (attributes.length > 0) throw new ReleaseError(`${header.name} has extended attributes`)
  const limit = new Date(epoch * 1000)
  return {
    ...rest,
    uname: '',
    gname: '',
    mtime: header.mtime && header.mtime < limit ? whole(header.mtime) : limit,
  }
}

const whole = (time: Date) => new Date(Math.floor(time.getTime() / 1000) * 1000)

/** The third field of a line is the day of the last password change; `useradd` writes the day of the build. */
function withoutDays(text: Buffer, epoch: number): Buffer {
  const day = Math.floor(epoch / 86_400)
  return Buffer.from(
    text.toString('latin1').replaceAll(/^([^:\n]*:[^:\n]*:)\d+(?=:)/gm, `$1${day}`),
    'latin1',
  )
}

async function isGzip(file: string): Promise<boolean> {
  const handle = await open(file)
  try {
    const { buffer: start } = await handle.read(Buffer.alloc(2), 0, 2, 0)
    return start[0] === 0x1f && start[1] === 0x8b
  } finally {
    await handle.close()
  }
}

async function writeArchive(to: string, entries: Entry[], epoch: number, signal?: AbortSignal) {
  const output = pack()
  const writing = pipeline(output, createGzip({ level: 6 }), createWriteStream(to), { signal })
  const copying = (async () => {
    for (const { name, content } of entries) {
      const size = 'path' in content ? (await stat(content.path)).size : Buffer.byteLength(content.text)
      const source = 'path' in content ? createReadStream(content.path) : Readable.from([content.text])
      await pipeline(source, output.entry({ name, size, mode: 0o644, mtime: new Date(epoch * 1000) }))
    }
    output.finalize()
  })()
  await Promise.all([writing, copying])
}
