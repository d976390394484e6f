/** The parts of a release other than images. The same commit gives the same bytes. */
import { createHash } from 'node:crypto'
import { createReadStream, createWriteStream } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { createGzip } from 'node:zlib'
import { type RunOptions, run } from '../machine/run.ts'
import { ReleaseError } from './error.ts'

export type Commit = {
  id: string
  /** Seconds since 1970. */
  epoch: number
  /** The first line of its message. */
  subject: string
}

/** Returns the checked-out commit. Throws `ReleaseError` without a repository or with changes that it lacks. */
export async function cleanCommit(root: string): Promise<Commit> {
  const changes = await output('git', ['status', '--porcelain'], { cwd: root })
  if (changes !== '') throw new ReleaseError(`These files are not committed:\n${changes.trimEnd()}`)
  const found = await output('git', ['log', '-1', '--format=%H%n%ct%n%s'], { cwd: root })
  const [id = '', epoch = '', subject = ''] = found.split('\n')
  return { id, epoch: Number(epoch), subject }
}

/** Writes the files of the commit, with `build.json`, which tells the platform its commit without a repository. */
export async function writeSource(
  root: string,
  { id, epoch, subject }: Commit,
  { version, to }: { version: string; to: string },
): Promise<void> {
  const draft = await mkdtemp(join(dirname(to), '.source-'))
  const date = new Date(epoch * 1000).toISOString()
  const record = `${JSON.stringify({ version, commit: id, subject, date }, null, 2)}\n`
  try {
    const [added, archive] = [join(draft, 'build.json'), join(draft, 'archive.tar')]
    await writeFile(added, record)
    // git gives all files the time of the commit, also the added one.
    const options = ['--format=tar', `--prefix=roost-${version}/`, `--add-file=${added}`, '-o', archive]
    await output('git', ['archive', ...options, id], { cwd: root })
    await pipeline(createReadStream(archive), createGzip({ level: 9 }), createWriteStream(to))
  } finally {
    await rm(draft, { recursive: true, force: true })
  }
}

/** Writes the Helm chart of the commit as a package. Git writes all entries with the time of the commit; Helm does not. */
export async function writeChart(root: string, { id }: Commit, to: string): Promise<void> {
  const draft = await mkdtemp(join(dirname(to), '.chart-'))
  try {
    const archive = join(draft, 'archive.tar')
    // In this folder git archives only it, and knows the time of the commit.
    const cwd = join(root, 'deploy/helm/roost')
    await output('git', ['archive', '--format=tar', '--prefix=roost/', '-o', archive, id], { cwd })
    await pipeline(createReadStream(archive), createGzip({ level: 9 }), createWriteStream(to))
  } finally {
    await rm(draft, { recursive: true, force: true })
  }
}

type Component = { 'bom-ref': string; name: string; properties: Property[] }
type Property = { name: string; value: string }
type Sbom = {
  serialNumber: string
  metadata: { timestamp: string; component: Component }
  components: Component[]
  dependencies: { ref: string; dependsOn: string[] }[]
}

const isDevelopment = ({ name, value }: Property) =>
  name === 'cdx:npm:package:development' && value === 'true'

/** Writes the production dependencies of the lock file as CycloneDX. */
export async function writeSbom(root: string, { id, epoch }: Commit, to: string): Promise<void> {
  const args = ['sbom', '--sbom-format', 'cyclonedx', '--package-lock-only']
  // npm defines this format.
  const sbom = JSON.parse(await output('npm', args, { cwd: root })) as Sbom
  // `--omit dev` also leaves out packages that one workspace needs in production and another for development.
  sbom.components = sbom.components.filter(({ properties }) => !properties.some(isDevelopment))
  const present = new Set([sbom.metadata.component, ...sbom.components].map((each) => each['bom-ref']))
  sbom.dependencies = sbom.dependencies
    .filter(({ ref }) => present.has(ref))
    .map(({ ref, dependsOn }) => ({ ref, dependsOn: dependsOn.filter((each) => present.has(each)) }))
  // npm writes the present time, a random number and the name of the folder.
  sbom.metadata.timestamp = new Date(epoch * 1000).toISOString()
  sbom.metadata.component.name = 'roost'
  sbom.serialNumber = `urn:uuid:${uuidOf(id)}`
  await writeFile(to, `${JSON.stringify(sbom, null, 2)}\n`)
}

/** A UUID of version 8, which carries any 122 bits: here those of a hash. */
function uuidOf(text: string): string {
  const hex = createHash('sha256').update(text).digest('hex')
  const variant = ((Number.parseInt(hex[16] ?? '0', 16) & 3) | 8).toString(16)
  return [
    hex.slice(0, 8),
    hex.slice(8, 12),
    `8${hex.slice(13, 16)}`,
    variant + hex.slice(17, 20),
    hex.slice(20, 32),
  ].join('-')
}

/** Writes a file for `sha256sum -c`, which names the files without their folder. */
export async function writeSums(files: string[], to: string): Promise<void> {
  const lines: string[] = []
  for (const file of [...files].sort()) {
    const hash = createHash('sha256')
    await pipeline(createReadStream(file), hash)
    lines.push(`${hash.digest('hex')}  ${basename(file)}\n`)
  }
  await writeFile(to, lines.join(''))
}

/** What a signature is for: keys that sign something else do not verify as a release. */
export const signatureNamespace = 'roost-release'

/**
 * Signs a file with an OpenSSH private key without a passphrase, into `<file>.sig`. `ssh-keygen -Y verify` checks it.
 * Throws `ReleaseError`.
 */
export async function sign(file: string, privateKey: string): Promise<void> {
  // Command lines are visible to other users, so the key goes through a file.
  const folder = await mkdtemp(join(tmpdir(), 'roost-release-'))
  try {
    const key = join(folder, 'key')
    await writeFile(key, `${privateKey.trimEnd()}\n`, { mode: 0o600 })
    await rm(`${file}.sig`, { force: true })
    const { code, lastLines } = await run('ssh-keygen', [
      ...['-Y', 'sign', '-f', key],
      ...['-n', signatureNamespace, file],
    ])
    if (code === 0) return
    const reason = lastLines.join('\n').replaceAll(key, 'the key')
    throw new ReleaseError(`ROOST_RELEASE_KEY: it does not sign: ${reason || 'ssh-keygen is missing'}`)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

async function output(file: string, args: string[], options: RunOptions): Promise<string> {
  const { code, stdout, lastLines } = await run(file, args, options)
  if (code === 0) return stdout
  throw new ReleaseError(`${file} ${args[0]} failed: ${lastLines.join('\n') || `${file} is missing`}`)
}
