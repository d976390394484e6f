import { createHash } from 'node:crypto'
import { cp, mkdir, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { buildOnce } from '../../../cli/src/machine/build-once.ts'
import { run as runProgram } from '../../../cli/src/machine/run.ts'
import { cacheFolder } from './paths.ts'

/** Programs of Kubernetes; all are names of one binary. */
const kubernetesPrograms = [
  'kube-apiserver',
  'kube-controller-manager',
  'kube-scheduler',
  'kubelet',
  'kube-proxy',
  'kubectl',
]
/** Debian's packages that the build unpacks, without installing them. */
const buildPackages = [
  'golang-1.19-go',
  'golang-1.19-src',
  'golang-github-modern-go-reflect2-dev',
  'etcd-server',
]
const recipeFolder = join(import.meta.dirname, 'recipe')

export type BuildOptions = {
  env: NodeJS.ProcessEnv
  onProgress: (text: string) => void
  signal?: AbortSignal
}

/** Returns the folder of the built programs; null if this version of the recipe has not been built. */
export async function findPrograms(env: NodeJS.ProcessEnv): Promise<string | null> {
  const programs = join(cacheFolder(env), await recipeDigest(), 'dist')
  return (await stat(programs).catch(() => null)) ? programs : null
}

/**
 * Builds Kubernetes and etcd from Debian's packages, unless this version of the recipe has been built. Returns the
 * folder of the programs. Needs 6 GB of disk while it builds.
 */
export async function buildPrograms({ env, onProgress, signal }: BuildOptions): Promise<string> {
  const stamp = await recipeDigest()
  const parent = join(cacheFolder(env), stamp)
  await mkdir(parent, { recursive: true })
  const make = async (folder: string) => {
    const work = join(folder, 'work')
    await mkdir(work)
    await build({ work, out: folder, env, onProgress, signal })
    await rm(work, { recursive: true, force: true })
  }
  const onWait = () => onProgress('waiting for another process that builds the programs')
  await buildOnce({ parent, stamp, make, onWait, signal })
  return join(parent, 'dist')
}

/** Changes with every file of the recipe, so that a build is never used with another recipe. */
async function recipeDigest(): Promise<string> {
  const files = (await readdir(recipeFolder)).sort().map((name) => join(recipeFolder, name))
  const digest = createHash('sha256')
  for (const file of [import.meta.filename, ...files]) {
    digest.update(`${basename(file)}\0`).update(await readFile(file))
  }
  return digest.digest('hex').slice(0, 16)
}

type Build = BuildOptions & { work: string; out: string }

async function build({ work, out, env, onProgress, signal }: Build): Promise<void> {
  const startedAt = performance.now()
  const step = (text: string) =>
    onProgress(`${Math.round((performance.now() - startedAt) / 1000)} s: ${text}`)
  const run = async (program: string, args: string[], options: { cwd?: string; env?: NodeJS.ProcessEnv }) => {
    const { code, stdout, lastLines } = await runProgram(program, args, { env, signal, ...options })
    if (code !== 0)
      throw new Error(`${program} ${args.slice(0, 3).join(' ')} failed:\n${lastLines.join('\n')}`)
    return stdout
  }

  step('downloading the source package of Kubernetes and the compiler (100 MB)')
  const apt = await sourceIndex(work)
  await run('apt-get', [...apt, 'update'], {})
  await run('apt-get', [...apt, 'source', '--download-only', 'kubernetes'], { cwd: work })
  await run('apt-get', [...apt, 'download', ...buildPackages], { cwd: work })

  step('unpacking')
  const source = join(work, 'go/src/k8s.io/kubernetes')
  await mkdir(source, { recursive: true })
  const tools = join(work, 'tools')
  const downloads = await readdir(work)
  const named = (pattern: RegExp) => {
    const found = downloads.find((name) => pattern.test(name))
    if (!found) throw new Error(`apt-get downloaded no file that matches ${pattern}`)
    return join(work, found)
  }
  for (const name of downloads.filter((each) => each.endsWith('.deb')))
    await run('dpkg-deb', ['-x', join(work, name), tools], {})
  await run(
    'tar',
    ['-xzf', named(/^kubernetes_.*\.orig\.tar\.gz$/), '-C', source, '--strip-components=1'],
    {},
  )
  await run('tar', ['-xJf', named(/^kubernetes_.*\.debian\.tar\.xz$/), '-C', source], {})
  const patches = (await readFile(join(source, 'debian/patches/series'), 'utf8')).split('\n')
  for (const patch of patches.filter((line) => line.trim() !== '' && !line.startsWith('#')))
    await run('patch', ['-s', '-p1', '-i', join('debian/patches', patch.trim())], { cwd: source })

  // The vendored version of reflect2 crashes under Go 1.18 and later, in replies with maps. Debian's is newer.
  const vendored = join(source, 'vendor/github.com/modern-go/reflect2')
  await rm(vendored, { recursive: true })
  await cp(join(tools, 'usr/share/gocode/src/github.com/modern-go/reflect2'), vendored, { recursive: true })

  const goRoot = join(tools, 'usr/lib/go-1.19')
  const goEnv = {
    ...env,
    GOROOT: goRoot,
    GOPATH: join(work, 'go'),
    GOCACHE: env.GOCACHE ?? join(work, 'cache'),
    GOTMPDIR: work,
    GO111MODULE: 'off',
    GOFLAGS: '',
    CGO_ENABLED: '0',
    PATH: `${join(goRoot, 'bin')}:${env.PATH ?? ''}`,
  }
  const go = (...args: string[]) => run('go', args, { cwd: source, env: goEnv })

  step('generating the API description, which the source package lacks')
  const generator = join(work, 'openapi-gen')
  await go('build', '-o', generator, './vendor/k8s.io/kube-openapi/cmd/openapi-gen')
  const violations = join(work, 'violations')
  await run(
    generator,
    [
      ['-i', (await describedPackages(source, run)).join(',')],
      ['-p', 'k8s.io/kubernetes/pkg/generated/openapi'],
      ['-O', 'zz_generated.openapi'],
      ['-h', 'vendor/k8s.io/code-generator/hack/boilerplate.go.txt'],
      ['-r', violations],
    ].flat(),
    { cwd: source, env: goEnv },
  )
  // The known violations of the API's rules: a difference means that the generator read other packages.
  await run('cmp', [violations, join(source, 'api/api-rules/violation_exceptions.list')], {})

  step('compiling (5 minutes on two cores)')
  for (const name of ['kubeall', 'pause']) {
    await mkdir(join(source, 'cmd', name), { recursive: true })
    await cp(join(recipeFolder, `${name}.go`), join(source, 'cmd', name, 'main.go'))
  }
  const flags = ['-s -w', ...(await versionFlags(source))].join(' ')
  const compile = (name: string) =>
    go(
      'build',
      '-trimpath',
      '-tags',
      'providerless',
      '-ldflags',
      flags,
      '-o',
      join(out, name),
      `./cmd/${name}`,
    )
  await compile('pause')
  await compile('kubeall')
  for (const name of kubernetesPrograms) await symlink('kubeall', join(out, name))
  await cp(join(tools, 'usr/bin/etcd'), join(out, 'etcd'))
  await run(join(out, 'kubectl'), ['version', '--client'], {})
  step('the programs are built')
}

/** Options of apt-get that add the source packages of this machine's package sources, in lists of their own. */
async function sourceIndex(work: string): Promise<string[]> {
  const folder = join(work, 'apt')
  const parts = join(folder, 'parts')
  for (const name of ['lists/partial', 'cache/archives/partial', 'parts'])
    await mkdir(join(folder, name), { recursive: true })
  const system = '/etc/apt/sources.list.d'
  const names = (await readdir(system).catch(() => [])).filter((name) => /\.(sources|list)$/.test(name))
  const files = [...names.map((name) => join(system, name)), '/etc/apt/sources.list']
  for (const [index, file] of files.entries()) {
    const text = await readFile(file, 'utf8').catch(() => '')
    const kind = file.endsWith('.sources') ? 'sources' : 'list'
    await writeFile(join(parts, `${index}.${kind}`), withSourcePackages(text, kind))
  }
  return [
    '-qq',
    ...['-o', 'Dir::Etc::sourcelist=/dev/null'],
    ...['-o', `Dir::Etc::sourceparts=${parts}`],
    ...['-o', `Dir::State::lists=${join(folder, 'lists')}`],
    ...['-o', `Dir::Cache=${join(folder, 'cache')}`],
    // The folder is closed to apt's own user.
    ...['-o', 'APT::Sandbox::User=root'],
  ]
}

/** Returns a file of package sources that lists source packages too, in either format of apt. */
export function withSourcePackages(text: string, kind: 'sources' | 'list'): string {
  if (kind === 'sources') return text.replace(/^Types:.*$/gm, 'Types: deb deb-src')
  return text.replace(/^deb (.*)$/gm, 'deb $1\ndeb-src $1')
}

type Run = (program: string, args: string[], options: { cwd?: string }) => Promise<string>

/** Packages whose types the API description covers, in the order of the original build. */
async function describedPackages(source: string, run: Run): Promise<string[]> {
  const staging = (await readdir(join(source, 'vendor/k8s.io'), { withFileTypes: true }))
    .map(({ name }) => `vendor/k8s.io/${name}/`)
    .filter((path) => !/\/(code-generator|sample-apiserver|kube-openapi|gengo)\/$/.test(path))
  const search = ['-rl', '--include=*.go', '+k8s:openapi-gen=', 'pkg', 'cmd', 'plugin', ...staging]
  const files = (await run('grep', search, { cwd: source })).split('\n').filter((line) => line !== '')
  const folders = files
    .filter((path) => !/_examples|zz_generated|_test\.go$|kube-openapi|vendor\/k8s\.io\/gengo/.test(path))
    .map((path) => `k8s.io/kubernetes/${path.slice(0, path.lastIndexOf('/')).replaceAll(/\/+/g, '/')}`)
  return [...new Set(folders)].sort()
}

/** Linker flags that set the version, which the original build takes from its git repository. */
async function versionFlags(source: string): Promise<string[]> {
  const script = await readFile(join(source, 'hack/lib/version.sh'), 'utf8')
  const version = /'tag: (v1\.(\d+)[\d.]*)'/.exec(script)
  const commit = /KUBE_GIT_COMMIT='([0-9a-f]+)'/.exec(script)
  if (!version || !commit) throw new Error('hack/lib/version.sh of the source package names no version')
  const values = {
    gitVersion: version[1],
    gitMajor: '1',
    gitMinor: version[2],
    gitCommit: commit[1],
    gitTreeState: 'archive',
    buildDate: '1970-01-01T00:00:00Z',
  }
  const packages = ['vendor/k8s.io/component-base/version', 'vendor/k8s.io/client-go/pkg/version']
  return packages.flatMap((path) =>
    Object.entries(values).map(([name, value]) => `-X k8s.io/kubernetes/${path}.${name}=${value}`),
  )
}
