import Slugger from 'github-slugger'

export type Heading = { line: number; depth: number; text: string; slug: string }

/** A part of a page from one heading to the next, as plain text. `slug` is empty for the start of the page. */
export type Section = { heading: string; slug: string; text: string }

/** The headings of a Markdown document with the anchors that GitHub gives them. Line numbers start at 1. */
export function headingsOf(markdown: string): Heading[] {
  const slugger = new Slugger()
  return proseLines(markdown).flatMap(({ line, text }) => {
    const [, marks, words] = /^(#{1,6}) +(.+?)(?: +#+)?$/.exec(text) ?? []
    if (marks === undefined || words === undefined) return []
    const plain = plainText(words)
    return [{ line, depth: marks.length, text: plain, slug: slugger.slug(plain) }]
  })
}

/** The title of a document: its first heading. */
export function titleOf(markdown: string): string {
  return headingsOf(markdown).find(({ depth }) => depth === 1)?.text ?? ''
}

/** The sections of a document for the search. Code counts as text, because people search for commands. */
export function sectionsOf(markdown: string): Section[] {
  const headings = headingsOf(markdown)
  const lines = markdown.split('\n')
  const starts = [{ line: 0, text: '', slug: '', depth: 0 }, ...headings]
  return starts.flatMap(({ line, text, slug, depth }, index) => {
    const body = lines.slice(line, (headings[index]?.line ?? lines.length + 1) - 1)
    const section = {
      heading: depth === 1 ? '' : text,
      slug: depth === 1 ? '' : slug,
      text: plainText(body.join('\n')),
    }
    return section.heading === '' && section.text === '' ? [] : [section]
  })
}

export type GuideLink =
  | { kind: 'guide'; page: string; hash: string }
  | { kind: 'file'; path: string }
  | { kind: 'other' }

/**
 * Resolves a link of a page. `page` is a path below `docs/` without `.md`; the start page is `README`. Files outside
 * `docs/` are part of the repository only.
 */
export function resolveLink(page: string, url: string): GuideLink {
  if (/^[a-z][a-z+.-]*:|^\/\//i.test(url) || url.startsWith('/')) return { kind: 'other' }
  const [path = '', hash = ''] = url.split('#')
  if (path === '') return { kind: 'guide', page, hash }
  const parts = `docs/${page}`.split('/').slice(0, -1)
  for (const part of path.split('/')) {
    if (part === '..') parts.pop()
    else if (part !== '.' && part !== '') parts.push(part)
  }
  const target = parts.join('/')
  const [, below] = /^docs\/(.+)\.md$/.exec(target) ?? []
  return below === undefined ? { kind: 'file', path: target } : { kind: 'guide', page: below, hash }
}

/** The address of a page in the web UI. Each error code has a page of its own. */
export function guidePath(page: string, hash = ''): string {
  if (page === 'reference/errors' && /^[a-z0-9_]+$/.test(hash)) return `/help/errors/${hash}`
  return `${page === 'README' ? '/help' : `/help/${page}`}${hash === '' ? '' : `#${hash}`}`
}

export type GuideGroup = { title: string; pages: { page: string; title: string }[] }

/** The navigation: the links of the start page under its bold words, each page once. */
export function navigationOf(readme: string): GuideGroup[] {
  const seen = new Set<string>()
  return readme.split(/^(?=\*\*)/m).flatMap((part) => {
    const [, title] = /^\*\*(.+?)\*\*/.exec(part) ?? []
    if (title === undefined) return []
    const pages = [...part.matchAll(/\[([^\]]+)\]\(([^)\s]+)\)/g)].flatMap(([, text = '', url = '']) => {
      const link = resolveLink('README', url)
      if (link.kind !== 'guide' || seen.has(link.page)) return []
      seen.add(link.page)
      return [{ page: link.page, title: upperFirst(plainText(text)) }]
    })
    return pages.length === 0 ? [] : [{ title, pages }]
  })
}

function upperFirst(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1)
}

/** The lines outside of code blocks. */
function proseLines(markdown: string): { line: number; text: string }[] {
  let fence = ''
  return markdown.split('\n').flatMap((text, index) => {
    const [, marks] = /^\s*(`{3,}|~{3,})/.exec(text) ?? []
    if (marks !== undefined && (fence === '' || text.trim() === fence)) {
      fence = fence === '' ? marks : ''
      return []
    }
    return fence === '' ? [{ line: index + 1, text }] : []
  })
}

/** Markdown without its marks. */
function plainText(markdown: string): string {
  return markdown
    .replaceAll(/^\s*(?:`{3,}|~{3,}).*$/gm, ' ')
    .replaceAll(/!?\[([^\]]*)\]\([^)\s]*\)/g, '$1')
    .replaceAll(/^\s*\|[\s|:-]+\|\s*$/gm, ' ')
    .replaceAll(/[`*]|\\(?=\|)/g, '')
    .replaceAll(/(^|\s)\|(?=\s|$)/g, ' ')
    .replaceAll(/\s+/g, ' ')
    .trim()
}
