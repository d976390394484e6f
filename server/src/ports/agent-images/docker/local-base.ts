import { spawn } from 'node:child_process'
import { constants } from 'node:fs'
import { access, copyFile, mkdir, mkdtemp, readFile, realpath, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type Docker from 'dockerode'
import { AgentImageError } from '../port.ts'
import { type RunOptions, run } from '../run.ts'
import { aptSourcesCommand, type Distribution, parseDistribution } from './debian.ts'
import { engineLines } from './stream.ts'

/** npm version of the base image, pinned for reproducible builds. Any version for this Node works. */
const npmVersion = '11.19.1'

export type LocalBaseOptions = {
  docker: Docker
  tag: string
  onProgress: (text: string) => void
  signal?: AbortSignal
  env: Record<string, string | undefined>
}

/**
 * Builds a replacement for the public Node image when no registry is reachable. Takes this machine's
 * distribution from its package mirror and adds this process's Node and npm. Needs root on Debian or Ubuntu;
 * takes about 30 s. Throws `AgentImageError` no_base.
 */
export async function makeLocalBase(options: LocalBaseOptions): Promise<void> {
  const { onProgress, signal, env } = options
  if (process.getuid?.() !== 0) {
    throw noBase('making one from Debian packages needs root: run this once as root')
  }
  const quiet: RunOptions = { signal, env: { ...env, DEBIAN_FRONTEND: 'noninteractive' } }
  if (!(await exists('/usr/sbin/debootstrap'))) {
    onProgress('Installing debootstrap')
    await run(['apt-get', 'update', '-q'], quiet).catch(orNoBase('apt-get cannot update its lists'))
    const install = ['apt-get', 'install', '-q', '-y', '--no-install-recommends', 'debootstrap'] as const
    await run(install, quiet).catch(orNoBase('debootstrap cannot be installed'))
  }
  const distribution = await thisDistribution(quiet)
  // Not in the temporary folder, which often forbids devices and programs.
  const folder = await mkdtemp('/var/tmp/roost-base-')
  try {
    const root = join(folder, 'root')
    await bootstrap(root, distribution, onProgress, quiet)
    onProgress('Building a base image: adding Node and npm')
    await addNode(root, folder, quiet)
    await writeFile(join(root, 'etc/apt/sources.list'), sourcesList(distribution))
    onProgress('Building a base image: importing it into the engine')
    await importImage(root, options)
  } finally {
    await removeTree(folder, env)
  }
}

async function thisDistribution(quiet: RunOptions): Promise<Distribution> {
  const release = await readFile('/etc/os-release', 'utf8').catch(() => '')
  let found = parseDistribution(release, await run(aptSourcesCommand, quiet).catch(() => ''))
  if (!found) {
    // Without package lists apt does not know the vendors of its sources.
    await run(['apt-get', 'update', '-q'], quiet).catch(orNoBase('apt-get cannot update its lists'))
    found = parseDistribution(release, await run(aptSourcesCommand, quiet).catch(() => ''))
  }
  if (!found)
    throw noBase('this machine is not a Debian or Ubuntu with its own release among its apt sources')
  return found
}

async function bootstrap(
  root: string,
  { codename, main }: Distribution,
  onProgress: (text: string) => void,
  quiet: RunOptions,
): Promise<void> {
  const phases: Record<string, string> = {
    Retrieving: 'downloading packages',
    Validating: 'downloading packages',
    Extracting: 'unpacking',
    Unpacking: 'unpacking',
    Configuring: 'configuring',
  }
  let phase = ''
  const onLine = (line: string) => {
    const word = phases[/^I: (\w+)/.exec(line)?.[1] ?? '']
    if (word === undefined || word === phase) return
    phase = word
    onProgress(`Building a base image from ${codename} packages: ${phase}`)
  }
  const components = `--components=${main.components.join(',')}`
  await run(
    ['debootstrap', '--variant=minbase', '--include=ca-certificates', components, codename, root, main.uri],
    { ...quiet, onLine },
  ).catch(orNoBase('debootstrap failed'))
}

/** Same layout as the public image: node and npm in /usr/local, with npm's configuration. */
async function addNode(root: string, folder: string, quiet: RunOptions): Promise<void> {
  const local = (path: string) => join(root, 'usr/local', path)
  await copyFile(process.execPath, local('bin/node'), constants.COPYFILE_FICLONE)
  await mkdir(local('lib/node_modules'), { recursive: true })
  const prefix = join(folder, 'npm')
  await mkdir(prefix)
  const install = ['npm', 'install', '--prefix', prefix, '--no-save', '--no-audit', '--no-fund'] as const
  await run([...install, '--ignore-scripts', `npm@${npmVersion}`], quiet).catch(
    orNoBase('npm cannot be fetched'),
  )
  await run(['cp', '-R', join(prefix, 'node_modules/npm'), local('lib/node_modules/npm')], quiet)
  await symlink('../lib/node_modules/npm/bin/npm-cli.js', local('bin/npm'))
  await symlink('../lib/node_modules/npm/bin/npx-cli.js', local('bin/npx'))
  await mkdir(local('etc'), { recursive: true })
  await writeFile(local('etc/npmrc'), await npmConfiguration(local('etc/machine-ca.crt'), quiet))
  // Agents read these files as another user, independent of the builder's umask.
  await run(['chmod', '-R', 'a+rX,go-w', local('.')], quiet)
}

/** Configures npm like on this machine: the same registry, and its additional certificate authorities. */
async function npmConfiguration(bundleCopy: string, quiet: RunOptions): Promise<string> {
  const ask = async (key: string) => {
    const answer = (await run(['npm', 'config', 'get', key], quiet).catch(() => '')).trim().split('\n').at(-1)
    return answer === undefined || /^(null|undefined|)$/.test(answer) ? null : answer
  }
  const lines: string[] = []
  const registry = await ask('registry')
  if (registry) lines.push(`registry=${registry}`)
  const bundles = [await ask('cafile'), quiet.env.NODE_EXTRA_CA_CERTS, '/etc/ssl/certs/ca-certificates.crt']
  for (const bundle of bundles) {
    if (!bundle || !(await exists(bundle))) continue
    await copyFile(await realpath(bundle), bundleCopy)
    lines.push('cafile=/usr/local/etc/machine-ca.crt')
    break
  }
  return `${lines.join('\n')}\n`
}

function sourcesList({ sources }: Distribution): string {
  return sources.map(({ uri, suite, components }) => `deb ${uri} ${suite} ${components.join(' ')}\n`).join('')
}

async function importImage(root: string, { docker, tag, signal }: LocalBaseOptions): Promise<void> {
  const excluded = ['./var/cache/apt/*', './var/lib/apt/lists/*', './var/log/*', './dev/*', './tmp/*']
  const tar = spawn('tar', ['-C', root, ...excluded.map((path) => `--exclude=${path}`), '-c', '.'], {
    stdio: ['ignore', 'pipe', 'inherit'],
    signal,
  })
  const ended = new Promise<number | null>((resolve, reject) => {
    tar.on('error', reject)
    tar.on('close', resolve)
  })
  const separator = tag.lastIndexOf(':')
  const answer = await docker.importImage(tar.stdout, {
    repo: tag.slice(0, separator),
    tag: tag.slice(separator + 1),
    abortSignal: signal,
  })
  for await (const line of engineLines(answer)) if (line.error) throw noBase(line.error)
  const code = await ended
  if (code !== 0) throw noBase(`tar ended with code ${code}`)
}

/** Unmounts first: a killed debootstrap leaves kernel file systems mounted in its tree. */
async function removeTree(folder: string, env: RunOptions['env']): Promise<void> {
  const mounts = (await readFile('/proc/self/mountinfo', 'utf8').catch(() => ''))
    .split('\n')
    .map((line) => line.split(' ')[4] ?? '')
    .filter((path) => path.startsWith(`${folder}/`))
  for (const path of mounts.reverse()) await run(['umount', '-l', path], { env }).catch(() => {})
  await run(['rm', '-rf', '--one-file-system', folder], { env }).catch(() => {})
}

function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  )
}

function orNoBase(what: string): (error: unknown) => never {
  return (error) => {
    throw noBase(`${what}: ${error instanceof Error ? error.message : String(error)}`, error)
  }
}

function noBase(reason: string, cause?: unknown): AgentImageError {
  return new AgentImageError(
    'no_base',
    `There is no base for the agent image: no image registry answers, and ${reason}`,
    { cause },
  )
}
