import { spawn } from 'node:child_process'
import { createWriteStream } from 'node:fs'
import { chmod, cp, mkdir, readdir, readFile, rm, stat, symlink } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { type Extract, extract } from 'tar-stream'
import { z } from 'zod'
import { sealWith, wrapKey } from '../../foundation/vault/index.ts'
import { timestamp } from '../../kit/clock.ts'
import type { HistoryCopies } from '../../ports/workspace-history/port.ts'
import { BackupError, Manifest, measure, writePrivate } from './archive.ts'
import type { BackUp } from './service.ts'

/** Volumes of agents. Other volumes of the installation are not in a backup. */
export const agentVolume = /^agent-[a-zA-Z0-9_.-]+-(workspace|shared|private)$/

/** The first file of a backup's content. */
export const FullManifest = Manifest.extend({
  format: z.literal(2),
  /** Rows by table, counted in the copy of the database. */
  rows: z.record(z.string(), z.number().int()),
  agents: z.array(z.object({ name: z.string(), volume_base: z.string() })),
  volumes: z.array(z.string().regex(agentVolume)),
  /** Files that are not in the backup, with the reason. */
  skipped: z.array(z.object({ path: z.string(), reason: z.enum(['sparse', 'hard_links', 'too_many']) })),
})
export type FullManifest = z.output<typeof FullManifest>

/** Paths in the folder of the platform's part. */
export const parts = {
  manifest: 'manifest.json',
  database: 'database',
  templates: 'templates',
  excluded: 'excluded',
  history: 'history',
} as const

/** Beginnings of the names of temporary folders in the data folder. */
export const draftNames = {
  stage: '.roost-stage-',
  restore: '.roost-full-restore-',
  verify: '.roost-verify-',
} as const

/** Removes what a killed run left: copies of the database, and a key. The caller holds the lock of backups. */
export async function removeDrafts(dataDir: string): Promise<void> {
  for (const name of await readdir(dataDir))
    if (Object.values(draftNames).some((draft) => name.startsWith(draft)))
      await rm(join(dataDir, name), { recursive: true, force: true })
}

export const environmentContext = 'backup:environment'

export type Stage = Pick<BackUp, 'key' | 'copies' | 'clock' | 'version' | 'dotenv'> & {
  history: HistoryCopies
  passphrase: string
  agents: FullManifest['agents']
  volumes: string[]
  skipped: FullManifest['skipped']
  /** Patterns of the skipped files, one a line. */
  excluded: string
}

/** Writes the platform's part into `folder`: the database at one moment, the sealed key, templates and histories. */
export async function writeStage(folder: string, options: Stage): Promise<FullManifest> {
  const { key, copies, clock, version, dotenv, passphrase, agents, volumes, skipped, excluded } = options
  const created_at = timestamp(clock.now())
  const database = join(folder, parts.database)
  await copies.copyTo(database)
  const environment = await readFile(dotenv, 'utf8').catch(unlessMissing)
  const installId = await readFile(join(key.dataDir, 'install-id'), 'utf8').catch(unlessMissing)
  const manifest: FullManifest = {
    format: 2,
    roost_version: version,
    created_at,
    dialect: copies.dialect,
    install_id: installId?.trim() ?? null,
    database: await measure(database),
    encryption_key: wrapKey(key, passphrase),
    environment: environment === null ? null : sealWith(passphrase, environment, environmentContext),
    rows: await copies.countRows(database),
    ...{ agents, volumes, skipped },
  }
  // After the database, so that every record of it has its content.
  await options.history.copyTo(join(folder, parts.history))
  const templates = join(key.dataDir, 'templates')
  if (await stat(templates).catch(unlessMissing))
    await cp(templates, join(folder, parts.templates), { recursive: true, verbatimSymlinks: true })
  else await mkdir(join(folder, parts.templates))
  await writePrivate(join(folder, parts.excluded), excluded)
  await writePrivate(join(folder, parts.manifest), JSON.stringify(manifest, null, 2))
  return manifest
}

/** Reads and checks the platform's part. Throws `BackupError`. */
export async function readStage(folder: string, name: string): Promise<FullManifest> {
  const text = await readFile(join(folder, parts.manifest), 'utf8').catch(unlessMissing)
  if (text === null) throw new BackupError(`${name} is no backup of Roost.`)
  const parsed = FullManifest.safeParse(parseJson(text))
  if (!parsed.success) throw new BackupError(`${name} has no manifest that this version can read.`)
  const manifest = parsed.data
  const { sha256 } = await measure(join(folder, parts.database)).catch(() => ({ sha256: '' }))
  if (sha256 !== manifest.database.sha256)
    throw new BackupError(`${name} is damaged: its database is incomplete.`)
  return manifest
}

/** Streams `folder` as a tar archive whose members start with `platform/`. */
export function packStage(folder: string): Readable {
  // S: the targets of symbolic links stay as they are.
  const child = spawn('tar', ['-c', '-f', '-', '-C', folder, '--transform=s,^\\.,platform,S', '.'], {
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  child.once('error', (error) => child.stdout.destroy(error))
  child.once('exit', (code) => {
    if (code !== 0) child.stdout.destroy(new BackupError('The platform’s files cannot be read.'))
  })
  return child.stdout
}

/**
 * Unpacks `roost/platform/` of a tar archive into `folder`, the histories only if requested. Stops reading at the first
 * member after it.
 */
export async function unpackStage(
  archive: Readable,
  folder: string,
  { withHistory = false }: { withHistory?: boolean } = {},
): Promise<void> {
  const entries = extract()
  const state = { isOver: false }
  const links: { target: string; to: string }[] = []
  const folders: { mode: number; to: string }[] = []
  const reading = pipeline(archive, entries).catch((error: unknown) => {
    if (!state.isOver) throw error
  })
  reading.catch(() => {})
  for await (const { header, ...entry } of withHeaders(entries)) {
    const path = /^roost\/platform\/(.+)$/s.exec(header.name.replace(/\/$/, ''))?.[1]
    if (path === undefined && !/^roost(\/platform)?\/?$/.test(header.name)) break
    const isSkipped = !withHistory && path?.split('/')[0] === parts.history
    if (path === undefined || isSkipped || path.split('/').includes('..')) {
      entry.body.resume()
      continue
    }
    const to = join(folder, path)
    await mkdir(dirname(to), { recursive: true, mode: 0o700 })
    if (header.type === 'file') {
      // A pipeline from a member that has closed already would wait forever.
      if (entry.body.destroyed) await reading
      await pipeline(entry.body, createWriteStream(to, { flags: 'wx', mode: 0o600 }))
      // Agents read templates and run programs of them.
      if (path.startsWith(`${parts.templates}/`)) await chmod(to, (header.mode ?? 0) & 0o755)
    } else {
      if (header.type === 'directory') {
        await mkdir(to, { recursive: true, mode: 0o700 })
        folders.push({ mode: (header.mode ?? 0) & 0o755, to })
      }
      if (header.type === 'symlink') links.push({ target: header.linkname ?? '', to })
      entry.body.resume()
    }
  }
  state.isOver = true
  archive.destroy()
  await reading
  // At the end, because a file of a changed archive could otherwise be written through one.
  for (const { target, to } of links) await symlink(target, to)
  for (const { mode, to } of folders) await chmod(to, mode)
}

async function* withHeaders(entries: Extract) {
  for await (const body of entries) yield { header: body.header, body }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

function unlessMissing(error: NodeJS.ErrnoException): null {
  if (error.code === 'ENOENT') return null
  throw error
}
