import type { Plugin } from 'vite'

const attribute = /(\w+)\.setAttribute\("style",`\$\{\1\.getAttribute\("style"\)\|\|""\}\$\{(\w+)\};`\)/g

/**
 * The terminal's emulator colours its text by style attributes, which the pages' policy blocks; what is set as a
 * style it lets through. Fails when a new version says it in other words: then look there how it does.
 */
export function strictStyles(): Plugin {
  return {
    name: 'roost-strict-styles',
    apply: 'build',
    transform(code, id) {
      if (!/@xterm\/xterm\/lib\/xterm\.m?js$/.test(id)) return null
      if (code.match(attribute)?.length !== 1)
        this.error('The style attributes of @xterm/xterm were not found.')
      return { code: code.replace(attribute, '$1.style.cssText+=`$${$2};`'), map: null }
    },
  }
}
