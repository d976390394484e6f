import { useEffect } from 'react'

/**
 * What the browser's tab says of the page, the most particular first. Set and not drawn: the document has a title
 * from its first byte on, and of two the first one counts.
 */
export function Title({ of }: { of: readonly (string | null | undefined)[] }) {
  const title = [...of.filter(Boolean), 'Roost'].join(' · ')
  useEffect(() => {
    document.title = title
  }, [title])
  return null
}
