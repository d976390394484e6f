import { createReadStream } from 'node:fs'
import { lstat, mkdir, readdir, realpath, stat } from 'node:fs/promises'
import { basename, join, posix, resolve } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { ReadableStream as WebStream } from 'node:stream/web'
import {
  downloadFile,
  type FileEntry,
  listFiles,
  makeDirectory,
  maxUploadBytes,
  uploadFile,
} from '@roost/contracts/agents/workspace'
import { ApiError, errorOf } from '@roost/contracts/client'
import { bytesText } from '@roost/contracts/kit/bytes'
import { type CommandContext, clientCommand } from './client/client-command.ts'
import { CommandFailed, exitCodes, failureOf } from './client/exit.ts'
import { plainText } from './client/output.ts'
import { saveFile } from './client/save-file.ts'
import { UsageError } from './command.ts'
import { systemErrorMessage } from './terminal/system-error.ts'

/** More would only wait for each other in the agent. */
const parallelFiles = 4
const listedDepth = 10

type Remote = { agent: string; path: string }
/** A file to copy; both ends are complete paths. */
type Job = { from: string; to: string; run(): Promise<number> }
type Failed = { path: string; message: string }
type Plan = { jobs: Job[]; failed: Failed[] }

export const copy = clientCommand('cp', {
  parameters: 'SOURCE… TARGET',
  summary: 'Copy files and folders to or from an agent’s workspace.',
  options: { recursive: { type: 'boolean', short: 'r' } },
  optionLines: [
    'SOURCE, TARGET  a path here, or AGENT:PATH; a relative PATH starts at the agent’s workspace',
    '                one side must be an agent; "-" is standard input or output',
    '-r              accepted and not needed: folders are copied with everything in them',
    '',
    'Into an existing folder, or a TARGET that ends with "/", the name is kept. A SOURCE that ends with "/." means',
    'the content of the folder. Existing files are replaced. A file has at most 100 MB. Links to folders, links of',
    'the agent to places outside its workspace, and the owner’s and platform’s files are reported and left out.',
  ],
  async run(context) {
    const { positionals } = context
    if (positionals.length < 2) throw new UsageError('Missing argument TARGET.')
    const sources = positionals.slice(0, -1)
    const target = positionals.at(-1) ?? ''
    const remoteTarget = remoteOf(target)
    const remotes = sources.map(remoteOf)
    if (remoteTarget ? remotes.some((each) => each !== null) : remotes.some((each) => each === null)) {
      throw new UsageError(
        remoteTarget
          ? 'Files cannot be copied from agent to agent. Copy them here first.'
          : 'Either all sources or the target must be AGENT:PATH.',
      )
    }
    if (sources.length > 1 && [...sources, target].includes('-'))
      throw new UsageError('"-" can only be the one source or the target.')
    const plan: Plan = { jobs: [], failed: [] }
    if (remoteTarget) await planUploads(context, sources, remoteTarget, plan)
    else await planDownloads(context, remotes as Remote[], target, plan)
    return copyAll(context, plan, target === '-')
  },
})

/** Null for a local path. A local path with a colon is written with a slash before it, as in `./a:b`. */
function remoteOf(argument: string): Remote | null {
  const match = /^([a-z0-9][a-z0-9_-]*):(.*)$/s.exec(argument)
  return match ? { agent: match[1] ?? '', path: match[2] ?? '' } : null
}

/** Copies the planned files; prints each failure as it happens and a summary. Returns the exit code. */
async function copyAll(context: CommandContext, plan: Plan, isToOutput: boolean): Promise<number> {
  const { spinner, isJson, print } = context
  const copied: { from: string; to: string; bytes: number }[] = []
  const failed: Failed[] = []
  const fail = (failure: Failed) => {
    failed.push(failure)
    spinner.hide()
    if (!isJson) console.error(`roost cp: ${plainText(failure.path)}: ${plainText(failure.message)}`)
  }
  for (const failure of plan.failed) fail(failure)
  const waiting = [...plan.jobs]
  const work = async () => {
    for (let job = waiting.shift(); job; job = waiting.shift()) {
      const { from, to, run } = job
      spinner.show(`Copying ${copied.length + failed.length + 1} of ${plan.jobs.length}: ${plainText(from)}`)
      try {
        copied.push({ from, to, bytes: await run() })
      } catch (error) {
        fail({ path: from, message: messageOf(error) })
      }
    }
  }
  await Promise.all(Array.from({ length: parallelFiles }, work))
  spinner.hide()
  const bytes = copied.reduce((sum, file) => sum + file.bytes, 0)
  const count = `${copied.length} ${copied.length === 1 ? 'file' : 'files'}`
  // Standard output has the content then.
  if (!isToOutput)
    print({ copied, failed, bytes }, () =>
      [
        `Copied ${count} (${bytesText(bytes)})`,
        ...(failed.length > 0 ? [`${failed.length} failed`] : []),
      ].join(', '),
    )
  return failed.length === 0 ? exitCodes.ok : exitCodes.failed
}

/** A sentence for an expected error. Rethrows bugs, and errors after which no other file can work. */
function messageOf(error: unknown): string {
  const system = systemErrorMessage(error)
  if (system) return system.replace(/^.*?: (?=[a-z])/s, '')
  if (error instanceof ApiError && error.status === 401) throw error
  const failure = failureOf(error)
  if (failure?.code === exitCodes.unreachable) throw error
  if (failure) return failure.message
  if (error instanceof Error && 'code' in error && typeof error.code === 'string') return error.message
  throw error
}

// ── To an agent ────────────────────────────────────────────────────────────────────────────────────

async function planUploads(
  context: CommandContext,
  sources: readonly string[],
  target: Remote,
  plan: Plan,
): Promise<void> {
  const isFolder = sources.length > 1 || target.path === '' || target.path.endsWith('/')
  const into = isFolder || (await isRemoteFolder(context, target))
  for (const source of sources) {
    if (source === '-') {
      if (into) throw new UsageError('Give the name of the file for standard input.')
      plan.jobs.push(uploadJob(context, { ...target, from: source }))
      continue
    }
    const name = contentOnly(source) ? '' : basename(resolve(source))
    const path = into ? posix.join(target.path || '.', name || '.') : target.path
    await planUpload(context, source, { agent: target.agent, path }, { plan, parents: [], isTop: true })
  }
}

type Walk = { plan: Plan; parents: readonly string[]; isTop?: boolean }

async function planUpload(
  context: CommandContext,
  source: string,
  target: Remote,
  { plan, parents, isTop = false }: Walk,
): Promise<void> {
  try {
    const isLink = (await lstat(source)).isSymbolicLink()
    const found = await stat(source)
    if (found.isDirectory()) {
      if (isLink && !isTop) throw new CommandFailed('is a link to a folder, which is not followed.')
      const real = await realpath(source)
      if (parents.includes(real)) throw new CommandFailed('contains itself.')
      await ensureRemoteFolder(context, target)
      for (const name of (await readdir(source)).toSorted())
        await planUpload(
          context,
          join(source, name),
          { ...target, path: posix.join(target.path, name) },
          {
            plan,
            parents: [...parents, real],
          },
        )
      return
    }
    if (!found.isFile()) throw new CommandFailed('is not a regular file.')
    if (found.size > maxUploadBytes)
      throw new CommandFailed(`has ${bytesText(found.size)}; a file has at most 100 MB.`)
    const isExecutable = (found.mode & 0o100) !== 0
    plan.jobs.push(uploadJob(context, { ...target, from: source, isExecutable }))
  } catch (error) {
    const missing = error instanceof Error && 'code' in error && error.code === 'ENOENT'
    plan.failed.push({ path: source, message: missing ? 'does not exist.' : messageOf(error) })
  }
}

function uploadJob(
  { api }: CommandContext,
  { agent, path, from, isExecutable = false }: Remote & { from: string; isExecutable?: boolean },
): Job {
  return {
    from,
    to: `${agent}:${path}`,
    async run() {
      const input = from === '-' ? process.stdin : createReadStream(from, { highWaterMark: 256 * 1024 })
      const reply = await api.call(uploadFile, {
        params: { name: agent },
        query: { path, executable: isExecutable ? 'true' : 'false' },
        body: Readable.toWeb(input) as ReadableStream<Uint8Array>,
      })
      return reply.size
    },
  }
}

async function ensureRemoteFolder({ api }: CommandContext, { agent, path }: Remote): Promise<void> {
  if (posix.normalize(path || '.') === '.') return
  await api.call(makeDirectory, { params: { name: agent }, body: { path } })
}

/** False when it is a file or does not exist. */
async function isRemoteFolder({ api }: CommandContext, { agent, path }: Remote): Promise<boolean> {
  try {
    await api.call(listFiles, { params: { name: agent }, query: { path: path || '.' } })
    return true
  } catch (error) {
    const code = error instanceof ApiError ? error.body?.error : undefined
    if (code === 'file_not_found' || code === 'conflict') return false
    throw error
  }
}

// ── From an agent ──────────────────────────────────────────────────────────────────────────────────

async function planDownloads(
  context: CommandContext,
  sources: readonly Remote[],
  target: string,
  plan: Plan,
): Promise<void> {
  const isLocalFolder = await stat(target).then(
    (found) => found.isDirectory(),
    () => false,
  )
  const into = sources.length > 1 || isLocalFolder || target.endsWith('/')
  for (const source of sources) {
    const shown = `${source.agent}:${source.path}`
    try {
      const isFolder = source.path === '' || (await isRemoteFolder(context, source))
      if (target === '-' && isFolder) throw new CommandFailed('is a folder; only a file can be printed.')
      const isContent = source.path === '' || contentOnly(source.path)
      const name = isContent ? '' : posix.basename(posix.normalize(source.path))
      const to = into && target !== '-' ? join(target, name || '.') : target
      if (isFolder) await planFolder(context, source, to, plan)
      else plan.jobs.push(downloadJob(context, source, to))
    } catch (error) {
      // An unknown agent is not a problem of one file.
      if (
        error instanceof ApiError &&
        error.body?.error !== 'file_not_found' &&
        error.body?.error !== 'protected_path'
      )
        throw error
      plan.failed.push({ path: shown, message: messageOf(error) })
    }
  }
}

async function planFolder(context: CommandContext, source: Remote, to: string, plan: Plan): Promise<void> {
  const query = (depth: number) => ({
    path: source.path || '.',
    depth: String(depth),
    show_hidden: 'true' as const,
  })
  const list = (depth: number) =>
    context.api.call(listFiles, { params: { name: source.agent }, query: query(depth) })
  let listed = await list(listedDepth)
  const depth = listed.truncated ? 1 : listedDepth
  // A large tree is read folder by folder.
  if (listed.truncated) listed = await list(1)
  if (listed.truncated)
    plan.failed.push({
      path: `${source.agent}:${source.path}`,
      message: 'has too many entries; some are left out.',
    })
  await planEntries(context, { source, entries: listed.tree, to, plan, depth })
}

type Entries = { source: Remote; entries: readonly FileEntry[]; to: string; plan: Plan; depth: number }

async function planEntries(
  context: CommandContext,
  { source, entries, to, plan, depth }: Entries,
): Promise<void> {
  try {
    await mkdir(to, { recursive: true })
  } catch (error) {
    plan.failed.push({ path: to, message: messageOf(error) })
    return
  }
  for (const { name, type, children } of entries) {
    const from = { ...source, path: posix.join(source.path || '.', name) }
    const shown = `${from.agent}:${from.path}`
    // The names come from the agent: none may leave the target folder.
    if (name === '' || name === '.' || name === '..' || /[/\0]/.test(name)) {
      plan.failed.push({ path: shown, message: 'has a name that cannot be used here.' })
      continue
    }
    try {
      if (type === 'file') plan.jobs.push(downloadJob(context, from, join(to, name)))
      else if (children && depth > 1)
        await planEntries(context, {
          source: from,
          entries: children,
          to: join(to, name),
          plan,
          depth: depth - 1,
        })
      else await planFolder(context, from, join(to, name), plan)
    } catch (error) {
      plan.failed.push({ path: shown, message: messageOf(error) })
    }
  }
}

function downloadJob({ api, spinner }: CommandContext, { agent, path }: Remote, to: string): Job {
  const from = `${agent}:${path}`
  return {
    from,
    to,
    async run() {
      const response = await api.open(downloadFile, { params: { name: agent }, query: { path } })
      if (!response.ok || !response.body) throw await errorOf(response)
      const body = Readable.fromWeb(response.body as WebStream<Uint8Array>)
      if (to === '-') {
        spinner.hide()
        await pipeline(body, process.stdout, { end: false })
        return Number(response.headers.get('content-length') ?? 0)
      }
      return saveFile(body, to)
    },
  }
}

function contentOnly(path: string): boolean {
  return /(^|\/)\.\/?$/.test(path)
}
