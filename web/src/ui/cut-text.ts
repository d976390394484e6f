/**
 * Text that is cut by an ellipsis is told whole by the browser's own hint while the pointer is over it: one rule
 * for all of the page, as no place that draws a name knows whether it has room.
 */
export function tellCutText(page: Document): void {
  let told: Element | null = null
  page.addEventListener('pointerover', ({ target }) => {
    told?.removeAttribute('title')
    told = target instanceof Element ? cutAround(target) : null
    const words = told instanceof HTMLElement ? told.innerText.trim() : ''
    if (words !== '') told?.setAttribute('title', words.slice(0, 1000))
  })
}

/** The nearest of the element and those around it whose text is cut; null where something tells more already. */
function cutAround(element: Element): Element | null {
  // A cell, a link and a badge are three; the whole of a page is no text.
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
