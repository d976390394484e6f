import { type Command, readArguments } from './command.ts'
import { repository } from './machine/repository.ts'
import { buildPages } from './machine/web-build.ts'
import { platformEnvironment, readDotenv } from './platform/environment.ts'
import { runStep } from './platform/run-step.ts'
import { createStopRequest } from './platform/stop-request.ts'
import { ProcessFailed } from './platform/supervised-process.ts'
import { createProgress } from './terminal/progress.ts'

export const images: Command = {
  name: 'images',
  summary: 'Build the container images of agents, and with --platform the one of Roost itself.',
  usage: [
    'roost images [--platform] [RUNTIME…]',
    '',
    '--platform         also build roost-platform:<version> and roost-backup:<version>, which Compose runs',
    'RUNTIME            build only these: claude-code, gemini-cli, codex',
    '',
    'Works without an image registry: the base image is then made from this machine’s package sources, which needs root.',
  ],
  completions: ['--platform'],
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
    const progress = createProgress()
    const stop = createStopRequest()
    const { signal } = stop
    try {
      if (values.platform)
        await progress.step('Building the web UI', (report) =>
          buildPages({
            signal,
            onWait: () => report('waiting for another roost process that is building it'),
          }),
        )
      await progress.step('Building the images', (onProgress) =>
        runStep({
          file: repository.images,
          args: [...(values.platform ? ['--platform'] : []), ...positionals],
          env,
          cwd: repository.root,
          onProgress,
          signal,
        }),
      )
      return 0
    } catch (error) {
      if (signal.aborted) return 130
      if (!(error instanceof ProcessFailed)) throw error
      console.error(`roost images: ${error.message}`)
      return error.exitCode
    } finally {
      stop.dispose()
    }
  },
}
