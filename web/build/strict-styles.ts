import type { Plugin } from 'vite'

type Patch = { file: RegExp; code: RegExp; times: number; instead: string }

/** Where libraries write style attributes, and the same through the DOM. */
const patches: readonly Patch[] = [
  {
    file: /@xterm\/xterm\/lib\/xterm\.m?js$/,
    code: /(\w+)\.setAttribute\("style",`\$\{\1\.getAttribute\("style"\)\|\|""\}\$\{(\w+)\};`\)/g,
    times: 1,
    instead: '$1.style.cssText+=`$${$2};`',
  },
  {
    file: /katex\/dist\/katex\.mjs$/,
    code: /node\.setAttribute\(attr, (this\.attributes\[attr\]|value)\);/g,
    times: 4,
    instead: 'if (attr === "style") node.style.cssText = $1; else node.setAttribute(attr, $1);',
  },
]

/**
 * xterm.js and KaTeX set style attributes, which the pages' policy blocks; styles set through the DOM are allowed.
 * Fails when a new version of a library uses other code: then adapt the pattern.
 */
export function strictStyles(): Plugin {
  return {
    name: 'roost-strict-styles',
    apply: 'build',
    transform(code, id) {
      const patch = patches.find(({ file }) => file.test(id))
      if (!patch) return null
      if (code.match(patch.code)?.length !== patch.times)
        this.error(
          `The style attributes in ${id} were not found. Adapt the pattern in web/build/strict-styles.ts.`,
        )
      return { code: code.replace(patch.code, patch.instead), map: null }
    },
  }
}
