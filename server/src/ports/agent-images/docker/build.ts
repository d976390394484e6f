import { Readable } from 'node:stream'
import { stripVTControlCharacters } from 'node:util'
import type Docker from 'dockerode'
import { pack } from 'tar-stream'
import { AgentImageError } from '../port.ts'
import type { SourceFile } from '../source.ts'
import { engineLines } from './stream.ts'

export type BuildOptions = {
  docker: Docker
  tag: string
  files: SourceFile[]
  arguments: Record<string, string>
  labels: Record<string, string>
  onProgress: (text: string) => void
  signal?: AbortSignal
}

type Purpose = (args: Record<string, string>) => string

/** What a step of the Dockerfile is for, by what it says. The first that fits counts. */
const purposes: [RegExp, Purpose][] = [
  [/apt-get/, () => 'installing packages'],
  [/ZOD_VERSION/, () => 'installing the agent program’s library'],
  [/CLI_PACKAGE/, ({ CLI_PACKAGE, CLI_VERSION }) => `installing ${CLI_PACKAGE} ${CLI_VERSION}`],
  [/COPY|COMPILE_CACHE/, () => 'adding the agent program'],
]

/** Has the engine build `images/agent/Dockerfile` with its classic builder. Throws build_failed, cancelled. */
export async function buildImage(options: BuildOptions): Promise<void> {
  const { docker, tag, files, labels, onProgress, signal } = options
  // The engine repeats the last lines of a failed command nowhere: they are kept here.
  const last: string[] = []
  const answer = await docker
    .buildImage(packContext(files), {
      t: tag,
      dockerfile: 'images/agent/Dockerfile',
      buildargs: options.arguments,
      labels,
      rm: true,
      forcerm: true,
      // The host's network: what this machine reaches, the build reaches, whatever the engine's bridge does.
      networkmode: 'host',
      version: '1',
      abortSignal: signal,
    })
    .catch((error: unknown) => failed(error, last, signal))
  let told = ''
  let next: Purpose | null = null
  try {
    for await (const line of engineLines(answer)) {
      if (line.error) failed(new Error(line.error), last, signal)
      const text = stripVTControlCharacters(line.stream ?? '').trim()
      if (text === '') continue
      if (/^Step \d+\/\d+ : /.test(text)) {
        next = purposes.find(([pattern]) => pattern.test(text))?.[1] ?? null
        last.length = 0
        continue
      }
      last.push(text)
      if (last.length > 20) last.shift()
      // A step that the engine has in its cache takes no time and is not worth a word.
      if (!next || !text.startsWith('---> Running in')) continue
      const purpose = next(options.arguments)
      if (purpose !== told) onProgress(purpose)
      told = purpose
    }
  } catch (error) {
    failed(error, last, signal)
  }
}

function packContext(files: SourceFile[]): NodeJS.ReadableStream {
  const archive = pack()
  for (const { path, content, executable } of files) {
    archive.entry({ name: path, mode: executable ? 0o755 : 0o644, mtime: new Date(0) }, content)
  }
  archive.finalize()
  return Readable.from(archive)
}

function failed(error: unknown, last: string[], signal: AbortSignal | undefined): never {
  if (error instanceof AgentImageError) throw error
  if (signal?.aborted) throw new AgentImageError('cancelled', 'Building the agent image was cancelled.')
  // The engine repeats the whole command of the step, which says nothing to a reader.
  const why = (error instanceof Error ? error.message : String(error))
    .trim()
    .replace(/'\/bin\/sh -c .*'/s, 'of a step')
  throw new AgentImageError(
    'build_failed',
    `The agent image cannot be built: ${why}${last.length > 0 ? `\nThe last lines were:\n${last.join('\n')}` : ''}`,
    { cause: error },
  )
}
