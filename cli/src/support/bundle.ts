import { createWriteStream } from 'node:fs'
import { open, readdir, readFile, rm } from 'node:fs/promises'
import { arch, cpus, release, totalmem } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { pipeline } from 'node:stream/promises'
import { createGzip } from 'node:zlib'
import { redactText } from '@roost/contracts/kit/redact'
import { getMetrics } from '@roost/contracts/operations/metrics'
import { getSupportState } from '@roost/contracts/operations/support'
import { pack } from 'tar-stream'
import { openInternalClient } from '../checkup/internal.ts'
import { get } from '../machine/engine-client.ts'
import { readVersion, repository } from '../machine/repository.ts'
import { run } from '../machine/run.ts'
import { publicListener } from '../platform/environment.ts'
import { describeConfiguration, secretsOf } from './configuration.ts'

export type BundleOptions = {
  env: NodeJS.ProcessEnv & { ROOST_DATA_DIR: string }
  /** Path of the archive, which must not exist. */
  to: string
  /** The lines that `roost doctor` prints. */
  report: string
  now: Date
}

/** Bytes at the end of each log. */
const logBytes = 512 * 1024
const timeoutMs = 15_000

/**
 * Writes an archive for people who help: the state of the installation without secrets and conversations. What cannot
 * be read is replaced by the reason. Readable only by its owner. Returns the names of its files.
 */
export async function writeBundle({ env, to, report, now }: BundleOptions): Promise<string[]> {
  const secrets = secretsOf(env).toSorted((one, other) => other.length - one.length)
  const files: Record<string, string> = {
    'doctor.txt': report,
    'about.json': await readable(() => about(now)),
    'configuration.json': json(describeConfiguration(env)),
    'health.json': await readable(() => health(env)),
    'state.json': await readable(async () =>
      json(await (await internal(env)).call(getSupportState, limited())),
    ),
    'metrics.txt': await readable(async () => (await internal(env)).open(getMetrics, limited()).then(textOf)),
    ...(await logs(join(env.ROOST_DATA_DIR, 'logs'))),
  }
  // The only path by which text enters the archive, so that nothing is left unmasked.
  const entries = Object.entries(files).map(([name, content]) => [name, masked(content, secrets)] as const)
  await writeArchive(to, entries, now)
  return entries.map(([name]) => name)
}

async function writeArchive(
  to: string,
  entries: readonly (readonly [string, string])[],
  now: Date,
): Promise<void> {
  // Fails for an existing file, and follows no link that another user planted.
  const file = await open(to, 'wx', 0o600)
  const archive = pack()
  for (const [name, content] of entries)
    archive.entry({ name: `roost-support/${name}`, mode: 0o600, mtime: now }, content)
  archive.finalize()
  try {
    await pipeline(archive, createGzip(), createWriteStream(to, { fd: file.fd, autoClose: false }))
  } catch (error) {
    await rm(to, { force: true })
    throw error
  } finally {
    await file.close()
  }
}

function masked(content: string, secrets: readonly string[]): string {
  let out = content
  for (const secret of secrets)
    for (const form of [secret, JSON.stringify(secret).slice(1, -1), encodeURIComponent(secret)])
      out = out.replaceAll(form, '[secret]')
  return redactText(out)
}

async function readable(read: () => Promise<string>): Promise<string> {
  try {
    return await read()
  } catch (error) {
    return `This could not be read: ${error instanceof Error ? error.message : String(error)}\n`
  }
}

async function about(now: Date): Promise<string> {
  let commit = ''
  const options = { cwd: repository.root, onLine: (line: string) => (commit ||= line) }
  await run('git', ['rev-parse', 'HEAD'], options).catch(() => {})
  const system = await readFile('/etc/os-release', 'utf8').catch(() => '')
  return json({
    taken_at: now.toISOString(),
    roost: await readVersion(),
    commit: /^[0-9a-f]{40}$/.test(commit) ? commit : null,
    node: process.version,
    system: /^PRETTY_NAME="?([^"\n]*)/m.exec(system)?.[1] ?? process.platform,
    kernel: release(),
    architecture: arch(),
    processors: cpus().length,
    memory_bytes: totalmem(),
  })
}

async function health(env: NodeJS.ProcessEnv): Promise<string> {
  const answers: Record<string, unknown> = {}
  for (const path of ['/health/live', '/health/ready', '/health', '/api/version'])
    answers[path] = await get(publicListener(env), path, timeoutMs).then(
      ({ status, body }) => ({ status, body: parsed(body) }),
      (error: unknown) => ({ error: error instanceof Error ? error.message : String(error) }),
    )
  return json(answers)
}

/** The log of the scripted model server is left out: it answers conversations. */
async function logs(folder: string): Promise<Record<string, string>> {
  const names = await readdir(folder).catch(() => [])
  const chosen = names.filter((name) => name.endsWith('.log') && name !== 'model.log').toSorted()
  const contents = await Promise.all(
    chosen.map(async (name) => [`logs/${name}`, await readable(() => endOf(join(folder, name)))] as const),
  )
  return Object.fromEntries(contents)
}

/** Whole lines: a secret that is cut in two would not be recognized. */
async function endOf(path: string): Promise<string> {
  const file = await open(path, 'r')
  try {
    const { size } = await file.stat()
    const from = Math.max(0, size - logBytes)
    const content = await text(file.createReadStream({ start: from, autoClose: false }))
    return from === 0 ? content : content.slice(content.indexOf('\n') + 1)
  } finally {
    await file.close()
  }
}

const internal = (env: NodeJS.ProcessEnv) => openInternalClient(env)
const limited = () => ({ signal: AbortSignal.timeout(timeoutMs) })

async function textOf(response: Response): Promise<string> {
  if (!response.ok) throw new Error(`status ${response.status}`)
  return response.text()
}

function parsed(body: string): unknown {
  try {
    return JSON.parse(body)
  } catch {
    return body.slice(0, 1_000)
  }
}

function json(value: unknown): string {
  return `${JSON.stringify(value, null, 2)}\n`
}
