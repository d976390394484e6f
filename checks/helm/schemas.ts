/** Compares objects with the schemas of a current Kubernetes. Refuses unknown fields. */
import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { cacheFolder, type KubeObject, root } from './helm.ts'

const modelsFolder = join(root, 'node_modules/kubernetes-models')

/** Returns the problems of the objects; throws if there is no schema for a kind. */
export async function schemaProblems(all: readonly KubeObject[]): Promise<string[]> {
  const objects = [...new Map(all.map((object) => [JSON.stringify(object), object])).values()]
  const problems: string[] = []
  for (const object of objects) {
    const { apiVersion, kind, metadata } = object
    const module = pathToFileURL(join(modelsFolder, apiVersion, `${kind}.js`)).href
    const Model = ((await import(module)) as Record<string, new (data: object) => { validate(): void }>)[kind]
    if (!Model) throw new Error(`no schema for ${apiVersion} ${kind}`)
    try {
      new Model(object).validate()
    } catch (error) {
      problems.push(`${kind} ${metadata.name}: ${error instanceof Error ? error.message : String(error)}`)
    }
  }
  return [...problems, ...(await unknownFields(objects))]
}

/**
 * Schemas of Kubernetes allow every additional field. The compiler does not: it refuses unknown properties of literals.
 */
async function unknownFields(objects: readonly KubeObject[]): Promise<string[]> {
  const kinds = new Map(objects.map(({ apiVersion, kind }) => [`${apiVersion}/${kind}`, kind]))
  const nameOf = (path: string) => `Type_${[...kinds.keys()].indexOf(path)}`
  const imports = [...kinds].map(
    ([path, kind]) => `import type { I${kind} as ${nameOf(path)} } from 'kubernetes-models/${path}'`,
  )
  const texts = objects.map(
    (object, index) =>
      `export const object${index}: ${nameOf(`${object.apiVersion}/${object.kind}`)} = ${JSON.stringify(object, null, 1)}`,
  )
  const folder = await mkdtemp(join(await cacheFolder(), 'types-'))
  try {
    const file = join(folder, 'objects.mts')
    await writeFile(file, [...imports, ...texts].join('\n'))
    const options = ['--noEmit', '--strict', '--skipLibCheck', '--module', 'nodenext', '--types', '']
    const compiler = join(root, 'node_modules/typescript/bin/tsc')
    const output = await new Promise<string>((done) => {
      execFile(process.execPath, [compiler, '--ignoreConfig', ...options, file], (_, stdout, stderr) =>
        done(stdout + stderr),
      )
    })
    return output.split('\n').filter((line) => line.includes('error TS'))
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}
