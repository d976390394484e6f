/**
 * The page for a library that makes style elements of its own and knows no nonce: each it makes through this one
 * carries it, so that the page's policy lets it count.
 */
export function documentWithNonce(page: Document, nonce: string): Document {
  function createElement(name: string, options?: ElementCreationOptions): HTMLElement {
    const made = page.createElement(name, options)
    if (name === 'style') made.nonce = nonce
    return made
  }
  return new Proxy(page, {
    get(target, key) {
      if (key === 'createElement') return createElement
      const value: unknown = Reflect.get(target, key, target)
      // A method of the page works on the page alone.
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
}
