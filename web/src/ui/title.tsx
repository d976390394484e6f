import { useEffect } from 'react'

/**
 * Sets the document title, most specific part first. Not rendered as an element: the document already has a
 * `<title>`, and the first one counts.
 */
export function Title({ of }: { of: readonly (string | null | undefined)[] }) {
  const title = [...of.filter(Boolean), 'Roost'].join(' · ')
  useEffect(() => {
    document.title = title
  }, [title])
  return null
}
