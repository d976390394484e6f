import assert from 'node:assert/strict'
import { test } from 'node:test'
import { safeLink } from './safe-link.ts'

const origin = 'https://roost.example'

test('links to the web, to mail and to this site are followed', () => {
  const table: [string, string, boolean][] = [
    ['https://a.example/x?y#z', 'https://a.example/x?y#z', true],
    ['HTTP://A.example', 'http://a.example/', true],
    ['mailto:ann@a.example', 'mailto:ann@a.example', true],
    ['//a.example/x', 'https://a.example/x', true],
    ['\\\\a.example\\x', 'https://a.example/x', true],
    ['/agents/scout', '/agents/scout', false],
    ['docs/a.md', '/docs/a.md', false],
    ['#L12', '#L12', false],
    ['https://roost.example/agents', '/agents', false],
  ]
  for (const [url, href, isExternal] of table)
    assert.deepEqual(safeLink(url, origin), { href, isExternal }, url)
})

test('a path that would name another host keeps its origin', () => {
  assert.deepEqual(safeLink('/.//evil.example/x', origin), {
    href: `${origin}//evil.example/x`,
    isExternal: false,
  })
})

test('everything else stays text', () => {
  const urls = [
    'javascript:alert(1)',
    'JaVaScRiPt:alert(1)',
    ' javascript:alert(1)',
    'java\nscript:alert(1)',
    'java\tscript:alert(1)',
    'java\r\nscript:alert(1)',
    '\u0001javascript:alert(1)',
    '\u00a0javascript:alert(1)'.trim(),
    'javascript://a.example/%0aalert(1)',
    'java%0Ascript:alert(1)',
    '%01javascript:alert(1)',
    'vbscript:x',
    'data:text/html,<script>alert(1)</script>',
    'data:image/svg+xml;base64,PHN2Zz4=',
    'blob:https://roost.example/1',
    'file:///etc/passwd',
    'ftp://a.example',
    'view-source:https://a.example',
    'https://roost.example@evil.example/',
    'https://user:pass@evil.example/',
    'http://',
    `https://a.example/${'x'.repeat(5000)}`,
  ]
  for (const url of urls) assert.equal(safeLink(url, origin), null, url)
})
