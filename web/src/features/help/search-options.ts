import type { Options } from 'minisearch'

/** One section of a page, as the index stores it. */
export type IndexedSection = {
  /** The address of the section. */
  id: string
  title: string
  heading: string
  text: string
  /** The beginning of the text, stored for the list of results. */
  excerpt: string
}

/** The build writes the index with these options, and the page must load it with the same ones. */
export const searchOptions: Options<IndexedSection> = {
  fields: ['title', 'heading', 'text'],
  storeFields: ['title', 'heading', 'excerpt'],
  searchOptions: {
    combineWith: 'AND',
    prefix: true,
    // One wrong letter in five; short words must be exact.
    fuzzy: (term) => (term.length > 4 ? 0.2 : false),
    boost: { title: 4, heading: 3 },
    // Guides before decisions, which explain the inside of the platform.
    boostDocument: (id) => (String(id).startsWith('/help/decisions/') ? 0.3 : 1),
  },
}
