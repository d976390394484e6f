import { memo, type ReactNode } from 'react'
import { highlight } from './highlight.ts'

/** Highlighted code, loaded on demand. */
export const HighlightedCode = memo(function HighlightedCode({
  code,
  language,
}: {
  code: string
  language: string
}) {
  const tree = highlight(code, language)
  return tree === null ? code : tree.children.map(show)
})

type Node = { type: string; value?: string; properties?: { className?: unknown }; children?: Node[] }

function show(node: Node, index: number): ReactNode {
  if (node.type === 'text') return node.value
  const children = node.children?.map(show)
  const colour = colourOf(node.properties?.className)
  return colour === null ? (
    children
  ) : (
    <span key={index} className={colour}>
      {children}
    </span>
  )
}

function colourOf(names: unknown): string | null {
  if (!Array.isArray(names)) return null
  for (const name of names) {
    const colour = typeof name === 'string' ? colours[name.replace('hljs-', '')] : undefined
    if (colour !== undefined) return colour
  }
  return null
}

const colours: Record<string, string> = {
  keyword: 'text-accent',
  'selector-tag': 'text-accent',
  name: 'text-accent',
  literal: 'text-warning',
  number: 'text-warning',
  symbol: 'text-warning',
  bullet: 'text-warning',
  'variable.constant_': 'text-warning',
  string: 'text-success',
  regexp: 'text-success',
  addition: 'bg-success-soft text-success',
  deletion: 'bg-danger-soft text-danger',
  comment: 'text-faint italic',
  quote: 'text-faint italic',
  title: 'text-info',
  attr: 'text-info',
  attribute: 'text-info',
  property: 'text-info',
  section: 'font-semibold text-info',
  built_in: 'text-info',
  type: 'text-info',
  meta: 'text-muted',
  variable: 'text-ink',
  strong: 'font-semibold',
  emphasis: 'italic',
}
