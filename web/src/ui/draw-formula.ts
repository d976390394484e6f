import 'katex/dist/katex.min.css'
import katex from 'katex'
import type { Formula } from './formulas.ts'

/** Limits against input that expands or is larger than any text. */
const maxExpansions = 300
const largestSizeEm = 20

/** Draws a formula into an element, with MathML for screen readers. False for one that cannot be drawn. */
export function drawFormula(element: HTMLElement, { tex, isDisplay }: Formula): boolean {
  try {
    katex.render(tex, element, {
      displayMode: isDisplay,
      output: 'htmlAndMathml',
      throwOnError: true,
      // Refuses commands that add links, images, classes or attributes.
      trust: false,
      // Their names stand in their places.
      errorColor: 'currentColor',
      strict: 'ignore',
      maxExpand: maxExpansions,
      maxSize: largestSizeEm,
    })
    return true
  } catch {
    element.replaceChildren()
    return false
  }
}
