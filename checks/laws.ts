/**
 * Checks the import laws of ARCHITECTURE.md: `node checks/laws.ts [ROOT]`. Prints file, law and import for each
 * breach and exits 1. Fails if it read nothing.
 */
import { readFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { type Import, importsOf, listSources } from '../cli/src/testing/import-graph.ts'
import { secretComparisons } from './secret-comparisons.ts'

const root = resolve(process.argv[2] ?? join(import.meta.dirname, '..'))
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

type Breach = { law: string; found: Omit<Import, 'isTypeOnly'> }

const files = listSources(root)
const imports = files.flatMap((file) => importsOf(root, file))
const breaches = [
  ...imports.flatMap(checkImport),
  ...processEnvReads(),
  ...secretBreaches(),
  ...webFeatureCircles(),
  ...barrels(),
  ...cycles(),
]

for (const { law, found } of breaches) console.error(`${found.from}:${found.line}: ${law}: ${found.to}`)
console.log(`laws: ${files.length} files, ${imports.length} imports, ${breaches.length} breaches`)
process.exitCode = breaches.length > 0 || files.length === 0 ? 1 : 0

function checkImport(found: Import): Breach[] {
  const laws = [packageLaw, portLaw, areaLaw, entranceLaw, roleLaw, webLaw]
  return laws.flatMap((law) => {
    const broken = law(found)
    return broken ? [{ law: broken, found }] : []
  })
}

/** Laws 1, 2 and 3: what each package may import. Tests are exempt. */
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
      return `${pack} imports the platform only through contracts`
    }
  }
  if (pack === 'server' && !external && !/^(server|contracts)\//.test(to))
    return 'server imports contracts and itself only'
  return null
}

/** Law 4: a port imports kit and contracts, an adapter also its port. Only the composition root opens adapters. */
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
      return 'a port imports only kit, contracts and itself'
  }
  const opened = /^server\/src\/ports\/[^/]+\/(?!port\.ts|suite\.ts)/.test(to)
  const mayOpen =
    /^server\/src\/(ports|start|test)\/|^server\/src\/compos(e|ition)\.ts$/.test(from) ||
    !from.startsWith('server/')
  if (opened && !mayOpen && !isTest(from)) return 'only the composition root opens adapters'
  return null
}

/** Law 5: an area imports only areas to its left. */
function areaLaw({ from, to }: Import): string | null {
  const [here, there] = [areaOf(from), areaOf(to)]
  if (!here || !there || isTest(from)) return null
  return areas.indexOf(there) > areas.indexOf(here) ? `${here} must not import ${there}` : null
}

/** Law 6: other features import a feature only through its index.ts, and no other file only re-exports. */
function entranceLaw({ from, to }: Import): string | null {
  if (isTest(from)) return null
  const [here, there] = [featureOf(from), featureOf(to)]
  if (!there || here === there || !from.startsWith('server/src/')) return null
  // Every layer uses the type of callers, including the web layer.
  if (to === 'server/src/identity/access/caller.ts') return null
  // The file that composes an area may use the composing files of earlier areas.
  const wires =
    /^server\/src\/([^/]+\/(area|area-deps|platform-policy)|compose|composition|start\/[^/]+)\.ts$/
  if (wires.test(from) && wires.test(to)) return null
  return to.endsWith('/index.ts') ? null : 'a feature is imported through its index.ts'
}

/** A file in a feature other than its index.ts that only re-exports. */
function barrels(): Breach[] {
  return files
    .filter((file) => featureOf(file) && !isTest(file))
    .filter((file) => file !== `${featureOf(file)}/index.ts`)
    .flatMap((file) => {
      const code = readFileSync(join(root, file), 'utf8')
        .replace(/\/\*[\s\S]*?\*\//g, '')
        .replace(/(^|\n)\s*\/\/.*/g, '')
      const rest = code.replace(/export\s[^'";]*?from\s*'[^']+'/g, '').trim()
      const isBarrel = rest === '' && code.trim() !== ''
      return isBarrel
        ? [{ law: 'no barrel besides index.ts', found: { from: file, to: file, external: false, line: 1 } }]
        : []
    })
}

/** Law 7: only routes import http, only stores and tables import Kysely, rules import neither. */
function roleLaw({ from, to, external, isTypeOnly }: Import): string | null {
  if (!areaOf(from) || isTest(from)) return null
  const file = from.slice(from.lastIndexOf('/') + 1)
  if (
    to.startsWith('server/src/http/') &&
    !/^(area|routes|.*-routes)\.ts$/.test(file) &&
    !(to === 'server/src/http/route.ts')
  ) {
    return 'only routes import http'
  }
  if (external && to === 'kysely' && !/^(store|tables|.*-store|.*-tables)\.ts$/.test(file))
    return 'only stores and tables import Kysely'
  if (/^(rules|.*-rules)\.ts$/.test(file)) {
    const allowed = external
      ? to === 'zod' || to.startsWith('node:')
      : /^(contracts\/|server\/src\/kit\/)/.test(to)
    const own = dirname(to) === dirname(from) || to === 'server/src/identity/access/caller.ts'
    if (!allowed && !own) return 'rules import only contracts, kit and their own feature'
    const acts = /\/(store|service|routes|.*-store|.*-routes)\.ts$/.test(to)
    if (own && acts && !isTypeOnly) return 'rules import only types of a store, service or routes'
  }
  return null
}

/** Law 10: components import no data, and only the router imports pages. */
function webLaw({ from, to, external }: Import): string | null {
  if (!from.startsWith('web/src/') || isTest(from) || external) return null
  const layer = from.split('/')[2]
  if (layer === 'ui' || layer === 'lib') {
    return /^(web\/src\/(ui|lib)|contracts)\//.test(to) ? null : 'components import no data'
  }
  const isAbove = /^web\/src\/(main|router)\.tsx$/.test(from)
  return to.startsWith('web/src/pages/') && layer !== 'pages' && !isAbove
    ? 'only the router imports pages'
    : null
}

/** Law 11: two features of `web` never import each other, except for `queries.ts`. */
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
    .map((found) => ({ law: 'two features of web import each other', found }))
}

/** Law 8: only the start files and the configuration read the environment. */
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
                  law: 'only start/ and config.ts read the environment',
                  found: { from: file, to: 'process.env', external: true, line: index + 1 },
                },
              ]
            : [],
        ),
    )
}

/** Law 12: one constant-time function compares secrets. */
function secretBreaches(): Breach[] {
  return files
    .filter((file) => /^(server|agent|mcp)\/src\//.test(file) && !isTest(file))
    .flatMap((file) =>
      secretComparisons(file, readFileSync(join(root, file), 'utf8')).map(({ text, line }) => ({
        law: 'compare secrets with server/src/kit/same-secret.ts',
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
