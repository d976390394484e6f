import { Children } from 'react'
import type { Components } from 'react-markdown'
import { FormattedText, gfm } from './formatted-text.tsx'
import { Formula } from './formula.tsx'
import { formulaOf, markFormulas, withoutMarks } from './formulas.ts'
import { InlineCode, markdownElements } from './markdown-elements.tsx'

/** One block of Markdown with its formulas drawn. A formula cannot paint outside of the block. */
export function FormulaText({ source }: { source: string }) {
  return (
    <div className="[contain:paint]">
      <FormattedText source={markFormulas(source)} plugins={plugins} elements={elements} />
    </div>
  )
}

type Node = { type: string; value?: string; url?: string; alt?: string | null; children?: Node[] }

/** Only code spans stand for formulas: elsewhere their text is shown as it was written. */
function restoreElsewhere() {
  return function restore(node: Node): void {
    if (node.value !== undefined && node.type !== 'inlineCode') node.value = withoutMarks(node.value)
    if (node.url !== undefined) node.url = withoutMarks(node.url)
    if (node.alt) node.alt = withoutMarks(node.alt)
    node.children?.forEach(restore)
  }
}

const plugins = [...gfm, restoreElsewhere]

const elements: Components = {
  ...markdownElements,
  code: ({ children }) => {
    const formula = formulaOf(Children.toArray(children).join(''))
    return formula ? <Formula {...formula} /> : <InlineCode>{children}</InlineCode>
  },
}
