/**
 * Runs the synchronous `act` and adds the nonce to style elements that it creates, for libraries without
 * nonce support.
 */
export function withNonce(page: Document, nonce: string, act: () => void): void {
  const create = page.createElement
  page.createElement = (name: string, options?: ElementCreationOptions): HTMLElement => {
    const element = create.call(page, name, options)
    if (name === 'style') element.nonce = nonce
    return element
  }
  try {
    act()
  } finally {
    page.createElement = create
  }
}
