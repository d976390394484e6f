/**
 * Sets the `title` of truncated text while the pointer is over it. One listener for the whole page, because
 * no component knows whether its text fits.
 */
export function showCutText(page: Document): void {
  let titled: Element | null = null
  page.addEventListener('pointerover', ({ target }) => {
    titled?.removeAttribute('title')
    titled = target instanceof Element ? cutAround(target) : null
    const words = titled instanceof HTMLElement ? titled.innerText.trim() : ''
    if (words !== '') titled?.setAttribute('title', words.slice(0, 1000))
  })
}

/** The nearest truncated element around this one; null when an ancestor already has a title. */
function cutAround(element: Element): Element | null {
  // Cell, link and badge make up to three levels; larger elements are not a text.
  let here: Element | null = element
  for (let up = 0; here && up < 4; up += 1, here = here.parentElement) {
    if (here.closest('[title]')) return null
    if (isCut(here)) return here
  }
  return null
}

function isCut(element: Element): boolean {
  const isWide = element.scrollWidth > element.clientWidth
  const isHigh = element.scrollHeight > element.clientHeight
  if (!isWide && !isHigh) return false
  const { textOverflow, webkitLineClamp } = getComputedStyle(element)
  return (isWide && textOverflow === 'ellipsis') || (isHigh && webkitLineClamp !== 'none')
}
