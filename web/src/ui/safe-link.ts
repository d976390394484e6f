/** Where a link from foreign text may lead. */
export type SafeLink = { href: string; isExternal: boolean }

/**
 * The link as a browser would follow it, or null when it must stay text: only `http`, `https`, `mailto` and
 * places of this site are followed. The browser's own parser decides what the scheme is, since it is the one
 * that strips tabs, line ends and control characters out of `java\nscript:`.
 */
export function safeLink(url: string, origin: string): SafeLink | null {
  if (url.length > longestUrl) return null
  const parsed = URL.parse(url, `${origin}/`)
  if (!parsed) return null
  if (parsed.protocol === 'mailto:') return { href: parsed.href, isExternal: true }
  if (parsed.protocol !== 'https:' && parsed.protocol !== 'http:') return null
  // A name before the host only ever serves to make one host look like another.
  if (parsed.username !== '' || parsed.password !== '') return null
  if (parsed.origin !== origin) return { href: parsed.href, isExternal: true }
  // `java%0Ascript:x` is a path of this site only because it was taken apart before it came here.
  if (/^[^/?#]*:/.test(url.trim()) && !/^https?:/i.test(url.trim())) return null
  if (url.trim().startsWith('#')) return { href: parsed.hash, isExternal: false }
  return { href: parsed.pathname + parsed.search + parsed.hash, isExternal: false }
}

const longestUrl = 4000
