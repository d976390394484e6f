/** Schemes that links in untrusted text may use. */
export type SafeLink = { href: string; isExternal: boolean }

/**
 * The URL as a browser would resolve it, or null when it must stay text. Uses the browser's own parser,
 * because it strips tabs, line ends and control characters, as in `java\nscript:`.
 */
export function safeLink(url: string, origin: string): SafeLink | null {
  if (url.length > longestUrl) return null
  const parsed = URL.parse(url, `${origin}/`)
  if (!parsed) return null
  if (parsed.protocol === 'mailto:') return { href: parsed.href, isExternal: true }
  if (parsed.protocol !== 'https:' && parsed.protocol !== 'http:') return null
  // A user name before the host only serves to disguise the real host.
  if (parsed.username !== '' || parsed.password !== '') return null
  if (parsed.origin !== origin) return { href: parsed.href, isExternal: true }
  // `java%0Ascript:x` looks like a path of this site only after decoding.
  if (/^[^/?#]*:/.test(url.trim()) && !/^https?:/i.test(url.trim())) return null
  if (url.trim().startsWith('#')) return { href: parsed.hash, isExternal: false }
  // Without the origin, `//host` would be another host.
  if (parsed.pathname.startsWith('//')) return { href: parsed.href, isExternal: false }
  return { href: parsed.pathname + parsed.search + parsed.hash, isExternal: false }
}

const longestUrl = 4000
