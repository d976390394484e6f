/**
 * Runs `act`, which must not wait for anything, so that the style elements that a library makes meanwhile carry the
 * nonce: for one that knows of none.
 */
export function withNonce(page: Document, nonce: string, act: () => void): void {
  const create = page.createElement
  page.createElement = (name: string, options?: ElementCreationOptions): HTMLElement => {
    const made = create.call(page, name, options)
    if (name === 'style') made.nonce = nonce
    return made
  }
  try {
    act()
  } finally {
    page.createElement = create
  }
}
