import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { renderMermaidSVG } from 'beautiful-mermaid'
import { blocksOf } from './agent-pages.ts'

const docs = join(import.meta.dirname, '../docs')
const pages = readdirSync(docs, { recursive: true, encoding: 'utf8' }).filter((path) => path.endsWith('.md'))
const diagrams = pages
  .flatMap((path) => blocksOf(path, readFileSync(join(docs, path), 'utf8')))
  .filter(({ language }) => language === 'mermaid')

/** The texts that a reader sees: of boxes, decisions, stores, arrows, messages and participants. */
function labelsOf(source: string): string[] {
  const patterns = [
    /\[\(([^)]+)\)\]/g,
    /\[([^\]()*]+)\]/g,
    /\{([^}]+)\}/g,
    /\|([^|]+)\|/g,
    /participant \w+ as ([^\n]+)/g,
    /-->[^\n]*?: ([^\n]+)/g,
    /->>[^\n]*?: ([^\n]+)/g,
  ]
  const labels = patterns.flatMap((pattern) =>
    [...source.matchAll(pattern)].map(([, label]) => label?.trim() ?? ''),
  )
  // A message without a text is left out of the image without an error.
  return [...labels, ...source.split('\n').filter((line) => line.includes('>>') && !line.includes(': '))]
}

/** The texts of an image, in one string without entities. */
function textOf(svg: string): string {
  const plain = svg
    .replaceAll(/<[^>]+>/g, ' ')
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
  return plain.replaceAll('&gt;', '>').replaceAll('&amp;', '&').replaceAll(/\s+/g, ' ')
}

test('there are diagrams', () => assert.ok(diagrams.length >= 6))

for (const { page, line, text } of diagrams) {
  test(`${page}:${line}: the diagram shows each of its labels`, () => {
    const shown = textOf(renderMermaidSVG(text))
    const labels = labelsOf(text)
    assert.ok(labels.length > 3)
    assert.deepEqual(
      labels.filter((label) => !shown.includes(label)),
      [],
    )
  })
}
