import type { Plugin } from 'vite'

const attribute = /(\w+)\.setAttribute\("style",`\$\{\1\.getAttribute\("style"\)\|\|""\}\$\{(\w+)\};`\)/g

/**
 * xterm.js colours its text with style attributes, which the pages' policy blocks; styles set through the DOM
 * are allowed. Fails when a new version of the library uses other code: then adapt the pattern.
 */
export function strictStyles(): Plugin {
  return {
    name: 'roost-strict-styles',
    apply: 'build',
    transform(code, id) {
      if (!/@xterm\/xterm\/lib\/xterm\.m?js$/.test(id)) return null
      if (code.match(attribute)?.length !== 1)
        this.error(
          'The style attributes of @xterm/xterm were not found. Adapt the pattern in web/build/strict-styles.ts.',
        )
      return { code: code.replace(attribute, '$1.style.cssText+=`$${$2};`'), map: null }
    },
  }
}
