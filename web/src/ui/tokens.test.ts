import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'

const css = readFileSync(join(import.meta.dirname, 'tokens.css'), 'utf8')
const light = colours(between(css, '@theme static {', '@keyframes'))
const dark = { ...light, ...colours(between(css, ':root[data-theme="dark"] {', '\n}')) }

const grounds = ['canvas', 'surface', 'raised', 'sunken', 'hover']
const texts = ['ink', 'muted', 'faint', 'accent', 'success', 'warning', 'danger', 'info']
const softTones = ['accent', 'success', 'warning', 'danger', 'info']

for (const [theme, palette] of Object.entries({ light, dark })) {
  describe(`the ${theme} palette`, () => {
    it('every text token is readable on every background (4.5:1)', () => {
      for (const text of texts) for (const ground of grounds) check(palette, text, ground, 4.5)
    })
    it('tones, ink and muted text are readable on soft backgrounds (4.5:1)', () => {
      for (const tone of softTones)
        for (const text of [tone, 'ink', 'muted']) check(palette, text, `${tone}-soft`, 4.5)
    })
    it('labels are readable on solid buttons, hovered or not (4.5:1)', () => {
      for (const tone of ['accent', 'danger'])
        for (const state of ['', '-hover']) check(palette, `${tone}-ink`, `${tone}${state}`, 4.5)
    })
    it('control edges and the focus ring are visible on every background (3:1)', () => {
      for (const edge of ['control', 'focus']) for (const ground of grounds) check(palette, edge, ground, 3)
    })
    it('chart marks are visible on cards and the page (3:1)', () => {
      for (let series = 1; series <= 6; series++)
        for (const ground of ['canvas', 'surface']) check(palette, `chart-${series}`, ground, 3)
    })
  })
}

describe('the dark palette', () => {
  it('redefines every colour of the light one', () => {
    const redefined = colours(between(css, ':root[data-theme="dark"] {', '\n}'))
    assert.deepEqual(Object.keys(redefined).sort(), Object.keys(light).sort())
  })
})

function check(palette: Record<string, string>, front: string, back: string, least: number): void {
  const ratio = contrast(palette[front] ?? '', palette[back] ?? '')
  assert.ok(ratio >= least, `${front} on ${back} is ${ratio.toFixed(2)}:1, needs ${least}:1`)
}

function between(text: string, start: string, end: string): string {
  const from = text.indexOf(start) + start.length
  return text.slice(from, text.indexOf(end, from))
}

function colours(block: string): Record<string, string> {
  return Object.fromEntries(
    [...block.matchAll(/--color-([a-z0-9-]+):\s*(#[0-9a-f]{6})/g)].map(([, name = '', hex = '']) => [
      name,
      hex,
    ]),
  )
}

function contrast(front: string, back: string): number {
  const [high = 0, low = 0] = [luminance(front), luminance(back)].sort((a, b) => b - a)
  return (high + 0.05) / (low + 0.05)
}

/** Relative luminance of WCAG 2.2. */
function luminance(hex: string): number {
  assert.match(hex, /^#[0-9a-f]{6}$/, 'a compared token must be a six-digit hex colour')
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => {
    const value = Number.parseInt(hex.slice(at, at + 2), 16) / 255
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4
  })
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue
}
