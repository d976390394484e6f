/**
 * The import laws of ARCHITECTURE.md. Exits 1 and names file, import and law for each breach; says how many
 * files and imports it read, so that an empty answer is not mistaken for a clean one.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { secretComparisons } from './secret-comparisons.ts'

const root = resolve(import.meta.dirname, '..')
const areas = [
  'foundation',
  'identity',
  'agents',
  'skills',
  'runs',
  'triggers',
  'conversations',
  'operations',
]

type Import = { from: string; to: string; external: boolean; line: number }
type Breach = { law: string; found: Import }

const files = listFiles(root)
const imports = files.flatMap(importsOf)
const breaches = [
  ...imports.flatMap(checkImport),
  ...processEnvReads(),
  ...secretBreaches(),
  ...webFeatureCircles(),
  ...cycles(),
]

for (const { law, found } of breaches) console.error(`${found.from}:${found.line}: ${law}: ${found.to}`)
console.log(`laws: ${files.length} files, ${imports.length} imports, ${breaches.length} breaches`)
process.exit(breaches.length > 0 || files.length === 0 ? 1 : 0)

function checkImport(found: Import): Breach[] {
  const laws = [packageLaw, portLaw, areaLaw, entranceLaw, roleLaw, webLaw]
  return laws.flatMap((law) => {
    const broken = law(found)
    return broken ? [{ law: broken, found }] : []
  })
}

/** Laws 1, 2, 3: what each package may know. Tests may use what they need. */
function packageLaw({ from, to, external }: Import): string | null {
  if (isTest(from)) return null
  const [pack] = from.split('/')
  if (pack === 'contracts') {
    if (external ? to !== 'zod' : !to.startsWith('contracts/')) return 'contracts imports zod and itself only'
  }
  if (pack === 'agent') {
    if (external ? !to.startsWith('node:') : !/^(agent|contracts)\//.test(to))
      return 'agent imports contracts and Node only'
  }
  if (pack === 'cli' || pack === 'web' || pack === 'mcp') {
    if (!external && !to.startsWith(`${pack}/`) && !to.startsWith('contracts/')) {
      return `${pack} knows the platform only through contracts`
    }
  }
  if (pack === 'server' && !external && !/^(server|contracts)\//.test(to))
    return 'server imports contracts and itself only'
  return null
}

/** Law 4: a port knows the kit and the contracts; an adapter its port too; only the composition opens them. */
function portLaw({ from, to, external }: Import): string | null {
  const port = /^server\/src\/ports\/([^/]+)\//.exec(from)?.[1]
  if (port && !isTest(from) && !external && to.startsWith('server/')) {
    const allowed = [
      'server/src/kit/',
      `server/src/ports/${port}/`,
      'server/src/ports/log.ts',
      'server/src/ports/ephemeral/port.ts',
    ]
    if (!allowed.some((prefix) => to.startsWith(prefix)))
      return 'a port knows only the kit, the contracts and itself'
  }
  const opened = /^server\/src\/ports\/[^/]+\/(?!port\.ts|suite\.ts)/.test(to)
  const mayOpen =
    /^server\/src\/(ports|start|test)\/|^server\/src\/compos(e|ition)\.ts$/.test(from) ||
    !from.startsWith('server/')
  if (opened && !mayOpen && !isTest(from)) return 'only the composition root opens adapters'
  return null
}

/** Law 5: areas look left. */
function areaLaw({ from, to }: Import): string | null {
  const [here, there] = [areaOf(from), areaOf(to)]
  if (!here || !there || isTest(from)) return null
  return areas.indexOf(there) > areas.indexOf(here) ? `${here} must not know ${there}` : null
}

/** Law 6: a feature is entered through its index.ts. */
function entranceLaw({ from, to }: Import): string | null {
  if (isTest(from)) return null
  const [here, there] = [featureOf(from), featureOf(to)]
  if (!there || here === there || !from.startsWith('server/src/')) return null
  // The words for who is asking are the vocabulary of every layer, the web layer's included.
  if (to === 'server/src/identity/access/caller.ts') return null
  // Areas are wired from left to right: what wires one may use what wires those before it.
  const wires = /^server\/src\/([^/]+\/area|compose|composition)\.ts$/
  if (wires.test(from) && wires.test(to)) return null
  return to.endsWith('/index.ts') ? null : 'a feature is entered through its index.ts'
}

/** Law 7: inside a feature only routes know the web layer, only stores know Kysely, rules know nothing of either. */
function roleLaw({ from, to, external }: Import): string | null {
  if (!areaOf(from) || isTest(from)) return null
  const file = from.slice(from.lastIndexOf('/') + 1)
  if (
    to.startsWith('server/src/http/') &&
    !/^(area|routes|.*-routes)\.ts$/.test(file) &&
    !(to === 'server/src/http/route.ts')
  ) {
    return 'only routes know the web layer'
  }
  if (external && to === 'kysely' && !/^(store|tables|.*-store|.*-tables)\.ts$/.test(file))
    return 'only stores and tables know Kysely'
  if (/^(rules|.*-rules)\.ts$/.test(file)) {
    const allowed = external
      ? to === 'zod' || to.startsWith('node:')
      : /^(contracts\/|server\/src\/kit\/)/.test(to)
    const sibling = dirname(to) === dirname(from) || to === 'server/src/identity/access/caller.ts'
    if (!allowed && !sibling) return 'rules know contracts and the kit'
  }
  return null
}

/** Law 10: components know no data, pages are known to the router only. */
function webLaw({ from, to, external }: Import): string | null {
  if (!from.startsWith('web/src/') || isTest(from) || external) return null
  const layer = from.split('/')[2]
  if (layer === 'ui' || layer === 'lib') {
    return /^(web\/src\/(ui|lib)|contracts)\//.test(to) ? null : 'components know no data'
  }
  const isAbove = /^web\/src\/(main|router)\.tsx$/.test(from)
  return to.startsWith('web/src/pages/') && layer !== 'pages' && !isAbove
    ? 'pages are known to the router only'
    : null
}

/** Law 11: of two features of the pages one stands on the other, never both. Their queries are open to all. */
function webFeatureCircles(): Breach[] {
  const featureOf = (path: string) => /^web\/src\/features\/([^/]+)\//.exec(path)?.[1]
  const between = imports.filter(({ from, to, external }) => {
    const [here, there] = [featureOf(from), external ? undefined : featureOf(to)]
    return !isTest(from) && here && there && here !== there && !to.endsWith('/queries.ts')
  })
  return between
    .filter((one) =>
      between.some(
        (other) => featureOf(other.from) === featureOf(one.to) && featureOf(other.to) === featureOf(one.from),
      ),
    )
    .map((found) => ({ law: 'two features of the pages stand on each other', found }))
}

/** Law 8: the environment is read where a process starts. */
function processEnvReads(): Breach[] {
  return files
    .filter((file) => file.startsWith('server/src/') && !isTest(file))
    .filter((file) => !/^server\/src\/(start\/|config\.ts|test\/)/.test(file))
    .flatMap((file) =>
      readFileSync(join(root, file), 'utf8')
        .split('\n')
        .flatMap((text, index) =>
          /\bprocess\.env\b/.test(text)
            ? [
                {
                  law: 'the environment is read in start/ and config.ts',
                  found: { from: file, to: 'process.env', external: true, line: index + 1 },
                },
              ]
            : [],
        ),
    )
}

/** Law 12: secrets are compared in one place, whose time tells nothing. */
function secretBreaches(): Breach[] {
  return files
    .filter((file) => /^(server|agent|mcp)\/src\//.test(file) && !isTest(file))
    .flatMap((file) =>
      secretComparisons(file, readFileSync(join(root, file), 'utf8')).map(({ text, line }) => ({
        law: 'secrets are compared by server/src/kit/same-secret.ts',
        found: { from: file, to: text, external: true, line },
      })),
    )
}

/** Law 9: no import cycles, type-only ones included. */
function cycles(): Breach[] {
  const edges = new Map<string, Import[]>()
  for (const found of imports)
    if (!found.external) edges.set(found.from, [...(edges.get(found.from) ?? []), found])
  const state = new Map<string, 'open' | 'done'>()
  const breaches: Breach[] = []
  const visit = (file: string, trail: string[]): void => {
    state.set(file, 'open')
    for (const found of edges.get(file) ?? []) {
      if (state.get(found.to) === 'open') {
        const loop = [...trail.slice(trail.indexOf(found.to)), file, found.to]
        breaches.push({ law: 'no import cycles', found: { ...found, to: [...new Set(loop)].join(' → ') } })
      } else if (!state.has(found.to)) visit(found.to, [...trail, file])
    }
    state.set(file, 'done')
  }
  for (const file of files) if (!state.has(file)) visit(file, [])
  return breaches
}

function areaOf(file: string): string | null {
  const area = /^server\/src\/([^/]+)\//.exec(file)?.[1]
  return area && areas.includes(area) ? area : null
}

function featureOf(file: string): string | null {
  return areaOf(file) ? (/^server\/src\/[^/]+\/[^/]+/.exec(file)?.[0] ?? null) : null
}

function isTest(file: string): boolean {
  return /(\.test\.ts|\/suite\.ts|\/test\/.*\.ts)$/.test(file) || /^(test-support|checks|bench)\//.test(file)
}

function importsOf(file: string): Import[] {
  const text = readFileSync(join(root, file), 'utf8')
  const pattern =
    /(?:^|\n)\s*(?:import|export)\s[^'";]*?from\s*'([^']+)'|\bimport\(\s*'([^']+)'\s*\)|(?:^|\n)\s*import\s*'([^']+)'/g
  return [...text.matchAll(pattern)].map((match) => {
    const specifier = match[1] ?? match[2] ?? match[3] ?? ''
    const line = text.slice(0, match.index + match[0].indexOf(specifier)).split('\n').length
    return { from: file, ...resolveImport(file, specifier), line }
  })
}

function resolveImport(file: string, specifier: string): { to: string; external: boolean } {
  if (specifier.startsWith('.'))
    return { to: relative(root, resolve(root, dirname(file), specifier)), external: false }
  const own = /^@roost\/(contracts|test-support)(?:\/(.+))?$/.exec(specifier)
  if (own) return { to: `${own[1]}/src/${own[2] ?? 'index'}.ts`, external: false }
  return {
    to:
      specifier.startsWith('node:') || specifier.startsWith('@')
        ? specifier
        : (specifier.split('/')[0] ?? specifier),
    external: true,
  }
}

function listFiles(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name)
    if (entry.isDirectory()) {
      return ['node_modules', '.git', 'dist', 'data', '.roost', 'artifacts'].includes(entry.name)
        ? []
        : listFiles(path)
    }
    return /\.tsx?$/.test(entry.name) ? [relative(root, path)] : []
  })
}
