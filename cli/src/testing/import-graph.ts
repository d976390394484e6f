import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'

/** One import of a file; `to` is a path below the root, or a package name when `external`. */
export type Import = {
  from: string
  to: string
  external: boolean
  line: number
  isTypeOnly: boolean
}

const ignored = new Set(['node_modules', '.git', 'dist', 'data', '.roost', 'artifacts'])

/** All TypeScript files below the root, as relative paths. */
export function listSources(root: string, folder = root): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name)
    if (entry.isDirectory()) return ignored.has(entry.name) ? [] : listSources(root, path)
    return /\.tsx?$/.test(entry.name) ? [relative(root, path)] : []
  })
}

export function importsOf(root: string, file: string): Import[] {
  const text = readFileSync(join(root, file), 'utf8')
  const pattern =
    /(?:^|\n)\s*(import|export)\s(\s*type\s)?[^'";]*?from\s*'([^']+)'|\bimport\(\s*'([^']+)'\s*\)|(?:^|\n)\s*import\s*'([^']+)'/g
  return [...text.matchAll(pattern)].map((match) => {
    const specifier = match[3] ?? match[4] ?? match[5] ?? ''
    const line = text.slice(0, match.index + match[0].indexOf(specifier)).split('\n').length
    return { from: file, ...resolveImport(root, file, specifier), line, isTypeOnly: match[2] !== undefined }
  })
}

function resolveImport(root: string, file: string, specifier: string): { to: string; external: boolean } {
  if (specifier.startsWith('.')) {
    const path = relative(root, resolve(root, dirname(file), specifier))
    return { to: existingSource(root, path), external: false }
  }
  const own = /^@roost\/(contracts|test-support)(?:\/(.+))?$/.exec(specifier)
  if (own) return { to: `${own[1]}/src/${own[2] ?? 'index'}.ts`, external: false }
  const isScoped = specifier.startsWith('node:') || specifier.startsWith('@')
  return { to: isScoped ? specifier : (specifier.split('/')[0] ?? specifier), external: true }
}

/** The bundler of `web/` resolves specifiers without an extension. */
function existingSource(root: string, path: string): string {
  if (/\.[a-z]+$/.test(path)) return path
  return [`${path}.ts`, `${path}.tsx`].find((candidate) => existsSync(join(root, candidate))) ?? path
}

/** Composition files import every feature: following them would reach the whole product. */
const composes = /^server\/src\/([^/]+\/area|compose|composition)\.ts$|^server\/src\/(start|test|http)\//

/**
 * Test files near the changed ones: those in the same folders, and those reached by reverse imports without
 * passing through a composition file. The nearest come first.
 */
export function testsNear(changed: readonly string[], imports: readonly Import[]): string[] {
  const importers = new Map<string, string[]>()
  for (const { from, to, external } of imports) {
    if (!external) importers.set(to, [...(importers.get(to) ?? []), from])
  }
  const files = new Set(imports.map(({ from }) => from))
  const folders = new Set(changed.map((file) => dirname(file)))
  const reached = new Set(changed)
  const queue = [...changed]
  for (const file of queue) {
    for (const importer of importers.get(file) ?? []) {
      if (reached.has(importer) || composes.test(importer)) continue
      reached.add(importer)
      queue.push(importer)
    }
  }
  const isUnitTest = (file: string) => /\.test\.ts$/.test(file) && !/^checks\//.test(file)
  const sameFolder = [...files].filter((file) => isUnitTest(file) && folders.has(dirname(file)))
  return [...new Set([...sameFolder, ...[...reached].filter(isUnitTest)])]
}
