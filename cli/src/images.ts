import { type Command, readArguments, UsageError } from './command.ts'
import { readVersion, repository } from './machine/repository.ts'
import { buildPages } from './machine/web-build.ts'
import { platformEnvironment, readDotenv } from './platform/environment.ts'
import { runStep } from './platform/run-step.ts'
import { createStopRequest } from './platform/stop-request.ts'
import { ProcessFailed } from './platform/supervised-process.ts'
import { builtImages } from './release/built-images.ts'
import { ReleaseError } from './release/error.ts'
import { chartValues, pushImages } from './release/push-images.ts'
import { createProgress, type Progress } from './terminal/progress.ts'

export const images: Command = {
  name: 'images',
  summary: 'Build the container images of agents, and with --platform the one of Roost itself.',
  usage: [
    'roost images [--platform] [RUNTIME…]',
    'roost images push REGISTRY',
    '',
    '--platform         also build roost-platform:<version> and roost-backup:<version>, which Compose runs',
    'RUNTIME            build only these: claude-code, gemini-cli, codex',
    'push REGISTRY      build what is missing, copy all images to a registry such as registry.example.com/roost, and',
    '                   print values for the Helm chart that name them by digest',
    '',
    'Works without an image registry: the base image is then made from this machine’s package sources, which needs root.',
  ],
  completions: ['--platform', 'push'],
  async run(args) {
    const { values, positionals } = readArguments({
      args,
      options: { platform: { type: 'boolean', default: false } },
      allowPositionals: true,
    })
    const env = platformEnvironment({
      shell: process.env,
      dotenv: await readDotenv(repository.dotenv),
      options: {},
      cwd: process.cwd(),
      root: repository.root,
    })
    const [command, registry, ...rest] = positionals
    const isPush = command === 'push'
    if (isPush && (registry === undefined || rest.length > 0))
      throw new UsageError('Name one registry: roost images push registry.example.com/roost')
    if (isPush && !/^[a-z0-9][\w.-]*(:\d+)?(\/[a-z0-9._/-]+)?$/.test(registry ?? ''))
      throw new UsageError(
        `${JSON.stringify(registry)} is not a registry such as registry.example.com/roost.`,
      )
    // The values go to the standard output, alone.
    const progress = createProgress(isPush ? process.stderr : process.stdout)
    const stop = createStopRequest()
    const { signal } = stop
    const isWithPlatform = values.platform || isPush
    try {
      if (isWithPlatform)
        await progress.step('Building the web UI', (report) =>
          buildPages({
            signal,
            onWait: () => report('waiting for another roost process that is building it'),
          }),
        )
      await progress.step('Building the images', (onProgress) =>
        runStep({
          file: repository.images,
          args: [...(isWithPlatform ? ['--platform'] : []), ...(isPush ? [] : positionals)],
          env,
          cwd: repository.root,
          onProgress,
          signal,
        }),
      )
      if (registry !== undefined && isPush)
        process.stdout.write(await push(registry, { env, progress, signal }))
      return 0
    } catch (error) {
      if (signal.aborted) return 130
      if (!(error instanceof ProcessFailed || error instanceof ReleaseError)) throw error
      console.error(`roost images: ${error.message}`)
      return error instanceof ProcessFailed ? error.exitCode : 1
    } finally {
      stop.dispose()
    }
  },
}

type PushOptions = { env: NodeJS.ProcessEnv; progress: Progress; signal: AbortSignal }

/** Copies the built images to the registry and returns values for the chart. */
async function push(registry: string, { env, progress, signal }: PushOptions): Promise<string> {
  const version = await readVersion()
  const images = (await builtImages(env)).map(({ runtime, image }) => ({
    runtime,
    local: image,
    remote: `${registry}/${runtime ? `roost-agent:${runtime}-${version}` : image}`,
  }))
  const digests = await progress.step('Pushing the images', (report) =>
    pushImages(images, { onPush: (remote) => report(remote), signal }),
  )
  const digestOf = (remote: string) => {
    const digest = digests.get(remote)
    if (digest === undefined) throw new ReleaseError(`${remote} was not pushed`)
    return digest
  }
  const agents = images.flatMap(({ runtime, remote }): [string, string][] =>
    runtime === null ? [] : [[runtime, digestOf(remote)]],
  )
  return chartValues(registry, {
    runtimes: new Map(agents),
    platform: digestOf(`${registry}/roost-platform:${version}`),
    backup: digestOf(`${registry}/roost-backup:${version}`),
  })
}
