import { resolve } from 'node:path'
import type { Rolldown } from 'vite'

const source = resolve(import.meta.dirname, '../src')

/** Modules that run before any page. */
const start = ['main.tsx']
/** Modules of the first page; its frame and components are those of most others. */
const firstPage = [
  'shell/layout.tsx',
  'shell/waiting-badge.tsx',
  'pages/home.tsx',
  'features/home/first-steps.tsx',
  'features/backups/backup-card.tsx',
]

/** What the list of agents shares with the page of one agent. */
const agentPages = ['pages/agents.tsx']

/** What the chat shares with the Workspace and with shared conversations; dialogs load when they open. */
const chatParts = /[\\/]web[\\/]src[\\/]features[\\/]chat[\\/](?!.*dialog)[^\\/]+\.tsx?$/

/** Parts of components that the first page has, and of those that it has not. */
const components = packages(
  '@radix-ui/(?!react-(checkbox|progress|radio-group|select|tabs)[\\\\/])[^\\\\/]+',
  '@floating-ui/[^\\\\/]+',
  'aria-hidden',
  'cmdk',
  'get-nonce',
  'react-remove-scroll',
  'react-remove-scroll-bar',
  'react-style-singleton',
  'tslib',
  'use-callback-ref',
  'use-sidecar',
)
const moreComponents = packages('@radix-ui/[^\\\\/]+')

/** Packages of which modules import an index and use a part. The bundler knows the part. */
const indexes = packages('radix-ui', 'lucide-react', 'zod')
/** Contracts with their schemas; `?plain` has the declarations without (`slim-contracts.ts`). */
const schemas = /[\\/]contracts[\\/]src[\\/].*\.ts$/
/** Contracts without their schemas. Those of pages that few people open stay with these pages. */
const declarations =
  /[\\/]contracts[\\/]src[\\/](?!agents[\\/](fork|workspace-(history|restore))|runs[\\/]attempts).*\.ts\?plain$/
/** Components without a large library behind them. */
const smallComponents =
  /[\\/]web[\\/]src[\\/](ui|lib)[\\/](?!code|data-table|form|highlight|log|markdown|terminal)[^\\/]+\.tsx?$/

/**
 * Groups of modules that share a file, for `codeSplitting`. Without them each set of pages that have modules in common
 * gets a file of its own, which made 130 files for the chat page. A file imports only files above it in this list.
 */
export function chunkGroups(): Rolldown.CodeSplittingGroup[] {
  const groups: Rolldown.CodeSplittingGroup[] = [
    { name: 'react', test: packages('react', 'react-dom', 'scheduler') },
    { name: 'icons', test: packages('lucide-react') },
    { name: 'components', test: components },
    { name: closure('start', start) },
    { name: closure('shell', firstPage) },
    { name: closure('agents', agentPages), minShareCount: 2 },
    { name: 'more-components', test: moreComponents, minShareCount: 2 },
    { name: 'ui', test: smallComponents, maxModuleSize: 10_000, minShareCount: 3 },
    { name: 'chat', test: chatParts, minShareCount: 2 },
    { name: 'contracts', test: declarations, maxModuleSize: 3000, minShareCount: 2 },
  ]
  // A dependency that only unused code imports must not come along: the groups are complete without it.
  return groups.map((group, index) => ({
    ...group,
    priority: groups.length - index,
    includeDependenciesRecursively: false,
  }))
}

function packages(...names: string[]): RegExp {
  return new RegExp(`[\\\\/]node_modules[\\\\/](${names.join('|')})[\\\\/]`)
}

/** Names the modules that `roots` import, directly or through others. Pages of tests have none of them. */
function closure(name: string, roots: readonly string[]): Rolldown.CodeSplittingNameFunction {
  const app = resolve(source, 'main.tsx')
  let members: Set<string> | null = null
  return (id, context) => {
    const isApp = context.getModuleInfo(app) !== null
    members ??= isApp ? importedBy(roots, (module) => context.getModuleInfo(module)) : new Set()
    return members.has(id) && !schemas.test(id) ? name : null
  }
}

function importedBy(
  roots: readonly string[],
  infoOf: (id: string) => Pick<Rolldown.ModuleInfo, 'importedIds'> | null,
): Set<string> {
  const members = new Set(roots.map((root) => resolve(source, root)))
  // A set yields the members that are added during the loop as well.
  for (const id of members) {
    const info = infoOf(id)
    if (!info) throw new Error(`${id} is not part of the build.`)
    for (const imported of info.importedIds) if (!indexes.test(imported)) members.add(imported)
  }
  return members
}
