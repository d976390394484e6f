import { nameOf } from './paths.ts'
import type { FileContent } from './read-file.ts'
import { formattedJson, isMarkdown, isTable } from './text-file.ts'

/** The formatted view of a file; null when there is only the source. */
export type Formatted = { label: string; kind: 'markdown' | 'json' | 'table'; text: string }

export function formattedOf(path: string, file: FileContent): Formatted | null {
  if (file.kind !== 'text') return null
  const name = nameOf(path)
  if (isMarkdown(name) && file.text.trim() !== '') {
    return { label: 'Rendered', kind: 'markdown', text: file.text }
  }
  if (isTable(name) && file.text.trim() !== '') return { label: 'Table', kind: 'table', text: file.text }
  const json = formattedJson(name, file.text)
  return json === null ? null : { label: 'Formatted', kind: 'json', text: json }
}
