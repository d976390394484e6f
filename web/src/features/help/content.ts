import { queryOptions } from '@tanstack/react-query'
import MiniSearch from 'minisearch'
import { loadCode } from '../../lib/code.ts'
import { searchOptions } from './search-options.ts'

const folder = '../../../../docs/'
/** One chunk for each page, and one file for each picture. Both are empty when `docs/` is absent. */
const texts = import.meta.glob<string>('../../../../docs/**/*.md', { query: '?raw', import: 'default' })
const pictures = import.meta.glob<string>('../../../../docs/**/*.{png,webp}', {
  query: '?url',
  import: 'default',
  eager: true,
})

export function isGuide(page: string): boolean {
  return Object.hasOwn(texts, `${folder}${page}.md`)
}

/** The Markdown of a page; null for an unknown page. */
export function guideQuery(page: string) {
  return queryOptions({
    queryKey: ['guides', 'page', page],
    queryFn: () => {
      const load = isGuide(page) ? texts[`${folder}${page}.md`] : undefined
      return load === undefined ? null : loadCode(load)
    },
    staleTime: Number.POSITIVE_INFINITY,
  })
}

/** The address of a picture by its path in the repository. */
export function pictureAddress(path: string): string | undefined {
  return pictures[`../../../../${path}`]
}

export const searchQuery = queryOptions({
  queryKey: ['guides', 'search'],
  queryFn: async () => {
    const { default: index } = await loadCode(() => import('virtual:guides/guide-index'))
    return MiniSearch.loadJSON(index, searchOptions)
  },
  staleTime: Number.POSITIVE_INFINITY,
})
