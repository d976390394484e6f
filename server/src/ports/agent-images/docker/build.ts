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
  /** Path of the recipe among the files. */
  dockerfile: string
  /** What the image is for, in messages. */
  subject: 'agent' | 'platform' | 'backup'
  files: SourceFile[]
  arguments: Record<string, string>
  labels: Record<string, string>
  onProgress: (text: string) => void
  signal?: AbortSignal
}

type Purpose = (args: Record<string, string>) => string

/** Descriptions of the Dockerfile's steps by pattern; the first match wins. */
const purposes: [RegExp, Purpose][] = [
  [/npm ci/, () => 'installing the dependencies'],
  [/images\/platform\/warm/, () => 'starting each program once'],
  [/apt-get/, () => 'installing packages'],
  [/ZOD_VERSION/, () => 'installing the agent program’s library'],
  [/CLI_PACKAGE/, ({ CLI_PACKAGE, CLI_VERSION }) => `installing ${CLI_PACKAGE} ${CLI_VERSION}`],
  [/COPY|COMPILE_CACHE/, () => 'adding the agent program'],
]

/** Builds an image with the engine's classic builder. Throws build_failed, cancelled. */
export async function buildImage(options: BuildOptions): Promise<void> {
  const { docker, tag, dockerfile, files, labels, onProgress, signal } = options
  const fail = (error: unknown) => failed(error, lastLines, options)
  // The engine's error lacks the output of the failed command, so the last lines are kept here.
  const lastLines: string[] = []
  const answer = await docker
    .buildImage(packContext(files), {
      t: tag,
      dockerfile,
      buildargs: options.arguments,
      labels,
      rm: true,
      forcerm: true,
      // Uses the host's network, so that the build reaches what this machine reaches.
      networkmode: 'host',
      version: '1',
      abortSignal: signal,
    })
    .catch(fail)
  let reported = ''
  let next: Purpose | null = null
  try {
    for await (const line of engineLines(answer)) {
      if (line.error) fail(new Error(line.error))
      const text = stripVTControlCharacters(line.stream ?? '').trim()
      if (text === '') continue
      if (/^Step \d+\/\d+ : /.test(text)) {
        next = purposes.find(([pattern]) => pattern.test(text))?.[1] ?? null
        lastLines.length = 0
        continue
      }
      lastLines.push(text)
      if (lastLines.length > 20) lastLines.shift()
      // Cached steps take no time and are not reported.
      if (!next || !text.startsWith('---> Running in')) continue
      const purpose = next(options.arguments)
      if (purpose !== reported) onProgress(purpose)
      reported = purpose
    }
  } catch (error) {
    fail(error)
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

function failed(
  error: unknown,
  lastLines: string[],
  { subject, signal }: Pick<BuildOptions, 'subject' | 'signal'>,
): never {
  if (error instanceof AgentImageError) throw error
  if (signal?.aborted) throw new AgentImageError('cancelled', `Building the ${subject} image was cancelled.`)
  // The engine repeats the whole command of the step, which does not help the reader.
  const why = (error instanceof Error ? error.message : String(error))
    .trim()
    .replace(/'\/bin\/sh -c .*'/s, 'of a step')
  throw new AgentImageError(
    'build_failed',
    `The ${subject} image cannot be built: ${why}${lastLines.length > 0 ? `\nThe last lines were:\n${lastLines.join('\n')}` : ''}`,
    { cause: error },
  )
}
