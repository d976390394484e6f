import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import MiniSearch from 'minisearch'
import type { Plugin } from 'vite'
import { guidePath, navigationOf, sectionsOf, titleOf } from '../src/features/help/guide-text.ts'
import { type IndexedSection, searchOptions } from '../src/features/help/search-options.ts'

const prefix = 'virtual:guides'
const excerptLength = 180
/** Of tables such as the access table, where a search for a route needs the row and not the whole text. */
const maxSectionText = 20_000

/** Makes the navigation and the search index of the guides from `docs/`. Without that folder both are empty. */
export function guides(docs: string): Plugin {
  return {
    name: 'roost-guides',
    resolveId: (id) => (id === prefix || id === `${prefix}/guide-index` ? `\0${id}` : null),
    load(id) {
      if (id === `\0${prefix}`) return code(navigationModule(docs))
      if (id === `\0${prefix}/guide-index`)
        return code(`export default ${JSON.stringify(JSON.stringify(searchIndex(docs)))}`)
      return null
    },
  }
}

/** The path of each page below `docs/`, without `.md`. */
export function guidePages(docs: string): string[] {
  if (!existsSync(docs)) return []
  return readdirSync(docs, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.md'))
    .map((path) => path.slice(0, -'.md'.length))
    .sort()
}

/** The index of all sections of all pages. Sections of the error reference lead to the page of their code. */
export function searchIndex(docs: string): MiniSearch<IndexedSection> {
  const index = new MiniSearch<IndexedSection>(searchOptions)
  for (const page of guidePages(docs)) {
    const markdown = readGuide(docs, page)
    const title = titleOf(markdown)
    for (const { heading, slug, text } of sectionsOf(markdown))
      index.add({
        id: guidePath(page, slug),
        title,
        heading,
        text: text.slice(0, maxSectionText),
        excerpt: text.length > excerptLength ? `${text.slice(0, excerptLength)}…` : text,
      })
  }
  return index
}

function navigationModule(docs: string): string {
  const pages = guidePages(docs)
  const navigation = pages.includes('README') ? navigationOf(readGuide(docs, 'README')) : []
  const titles = Object.fromEntries(pages.map((page) => [page, titleOf(readGuide(docs, page))]))
  return `export const navigation = ${JSON.stringify(navigation)}\nexport const titles = ${JSON.stringify(titles)}`
}

function readGuide(docs: string, page: string): string {
  return readFileSync(join(docs, `${page}.md`), 'utf8')
}

function code(text: string) {
  return { code: text, map: null, moduleSideEffects: false as const }
}
