import { copyFile, mkdir, mkdtemp, readdir, rename, rm } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { type Command, readArguments } from './command.ts'
import { readVersion, repository } from './machine/repository.ts'
import { run } from './machine/run.ts'
import { buildPages } from './machine/web-build.ts'
import { runStep } from './platform/run-step.ts'
import { createStopRequest } from './platform/stop-request.ts'
import { ProcessFailed } from './platform/supervised-process.ts'
import { builtImages } from './release/built-images.ts'
import { cleanCommit, sign, writeChart, writeSbom, writeSource, writeSums } from './release/contents.ts'
import { ReleaseError } from './release/error.ts'
import { createProgress, type Progress } from './terminal/progress.ts'

/** For people who run the images without a checkout. */
const composeFiles = ['compose.yaml', 'compose.scale.yaml']
const keyVariable = 'ROOST_RELEASE_KEY'

export const release: Command = {
  name: 'release',
  summary: 'Write the files of a release of this checkout (maintainers).',
  usage: [
    'roost release [--to FOLDER] [--without-images]',
    '',
    '--to FOLDER       where to write (default dist/ of this checkout)',
    '--without-images  leave out the images, which need a container engine',
    '',
    'Writes the source, the images of this machine’s processor, the Compose files, the Helm chart, an SBOM (CycloneDX)',
    'and SHA256SUMS.',
    `With an OpenSSH private key in ${keyVariable}, SHA256SUMS gets a signature: SHA256SUMS.sig.`,
    'The checkout must have no uncommitted changes. The same commit gives the same bytes.',
  ],
  async run(args) {
    const { values } = readArguments({
      args,
      options: { to: { type: 'string' }, 'without-images': { type: 'boolean', default: false } },
    })
    const to = resolve(values.to ?? join(repository.root, 'dist'))
    const stop = createStopRequest()
    const progress = createProgress()
    try {
      const options = { hasImages: !values['without-images'], key: process.env[keyVariable] ?? '' }
      for (const name of await writeRelease(to, options, progress, stop.signal)) progress.line(join(to, name))
      if (!process.env[keyVariable]) progress.line(`Not signed: ${keyVariable} is not set.`)
      return 0
    } catch (error) {
      if (stop.signal.aborted) return 130
      if (!(error instanceof ReleaseError || error instanceof ProcessFailed)) throw error
      console.error(`roost release: ${error.message}`)
      return 1
    } finally {
      stop.dispose()
    }
  },
}

type Options = { hasImages: boolean; key: string }

/** Writes the files into `to`, all or none, and returns their names. */
async function writeRelease(
  to: string,
  { hasImages, key }: Options,
  progress: Progress,
  signal: AbortSignal,
): Promise<string[]> {
  const { root } = repository
  const commit = await cleanCommit(root)
  const version = await readVersion()
  await mkdir(to, { recursive: true })
  const draft = await mkdtemp(join(to, '.draft-'))
  try {
    await progress.step('Writing the source', () =>
      writeSource(root, commit, { version, to: join(draft, `roost-${version}.tar.gz`) }),
    )
    await writeChart(root, commit, join(draft, `roost-chart-${version}.tgz`))
    for (const name of composeFiles) await copyFile(join(root, name), join(draft, name))
    await progress.step('Writing the SBOM', () =>
      writeSbom(root, commit, join(draft, `roost-${version}.cdx.json`)),
    )
    if (hasImages) {
      const images = await buildImages(progress, signal)
      const file = `roost-${version}-images-${await architectureOf(images)}.tar.gz`
      await progress.step('Writing the images', async (report) => {
        // Loaded here, because the other commands need no dependency for it.
        const { writeImageArchive } = await import('./release/image-archive.ts')
        const onLayer = (written: number, all: number) => report(`${written} of ${all} layers`, 'transient')
        await writeImageArchive({ images, to: join(draft, file), epoch: commit.epoch, onLayer, signal })
      })
    }
    const sums = join(draft, 'SHA256SUMS')
    await writeSums(
      (await readdir(draft)).map((name) => join(draft, name)),
      sums,
    )
    if (key !== '') await sign(sums, key)
    const names = (await readdir(draft)).sort()
    for (const name of names) await rename(join(draft, name), join(to, name))
    return names
  } finally {
    await rm(draft, { recursive: true, force: true })
  }
}

/** Builds the images that are missing and returns the names of all. */
async function buildImages(progress: Progress, signal: AbortSignal): Promise<string[]> {
  const env = { ...process.env, ROOST_CONTAINERS_URL: 'docker:' }
  const step = { file: repository.images, env, cwd: repository.root, signal }
  await progress.step('Building the web UI', () => buildPages({ signal }))
  await progress.step('Building the images', (onProgress) =>
    runStep({ ...step, args: ['--platform'], onProgress }),
  )
  return (await builtImages(env)).map(({ image }) => image)
}

async function architectureOf([image = '']: string[]): Promise<string> {
  const args = ['image', 'inspect', '-f', '{{.Architecture}}', image]
  const { code, stdout, lastLines } = await run('docker', args)
  if (code === 0) return stdout.trim()
  throw new ReleaseError(`The image ${image} cannot be read: ${lastLines.join('\n')}`)
}
