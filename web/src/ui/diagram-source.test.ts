import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseMermaid } from 'beautiful-mermaid'
import { readDiagram } from './diagram-source.ts'

/** What the library parses. */
function drawn(source: string): { arrows: number | null; edges: string[]; nodes: string[] } {
  const { text, arrows } = readDiagram(source)
  const { edges, nodes } = parseMermaid(text)
  return {
    arrows,
    edges: edges.map(({ source: from, target, label, style, hasArrowEnd }) =>
      [from, style, label ?? '', hasArrowEnd ? '>' : '-', target].join(' ').replaceAll(/ +/g, ' '),
    ),
    nodes: [...nodes.values()].map(({ label }) => label),
  }
}

test('a flowchart is read with and without spaces around its arrows', () => {
  const flow = drawn('flowchart LR; A[Mail]-->B{Known?}; B-->|yes| C[Answer]; B-->|no|D[Ask a person]')
  assert.deepEqual(flow, {
    arrows: 3,
    edges: ['A solid > B', 'B solid yes > C', 'B solid no > D'],
    nodes: ['Mail', 'Known?', 'Answer', 'Ask a person'],
  })
  assert.deepEqual(drawn('graph TD\n  A --> B --> C').edges, ['A solid > B', 'B solid > C'])
  assert.deepEqual(drawn('graph TD\nA-->B-->C').edges, ['A solid > B', 'B solid > C'])
  assert.deepEqual(drawn('flowchart LR\nA-.->B\nC==>D\nE---F\nA---->F\nA<-->B').edges, [
    'A dotted > B',
    'C thick > D',
    'E solid - F',
    'A solid > F',
    'A solid > B',
  ])
  assert.deepEqual(drawn('flowchart LR\nA--yes-->B\nB -- no way --> C').edges, [
    'A solid yes > B',
    'B solid no way > C',
  ])
})

test('quoted or bracketed content is text', () => {
  const { nodes, arrows } = drawn('flowchart LR\n A["a; b-->c"]-->B[c-->d; e]')
  assert.deepEqual([nodes, arrows], [['a; b-->c', 'c-->d; e'], 1])
  assert.deepEqual(drawn('flowchart LR\n my-node-->your-node').edges, ['my-node solid > your-node'])
})

test('unsupported arrows are counted, so that they are noticed as missing', () => {
  const { arrows, edges } = drawn('flowchart LR\nA --x B\nA --> C')
  assert.equal(arrows, 2)
  assert.ok(edges.length < 2)
})

test('classes and entities are separated from their relations; other diagrams are unchanged', () => {
  assert.equal(
    readDiagram('classDiagram\nAnimal<|--Duck\nFoo--Bar').text,
    'classDiagram\nAnimal <|-- Duck\nFoo -- Bar',
  )
  assert.equal(readDiagram('erDiagram\nA||--o{B : has').text, 'erDiagram\nA ||--o{ B : has')
  const text = 'sequenceDiagram\n A->>B: one; two'
  assert.deepEqual(readDiagram(text), { text, arrows: null })
})
