import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import {
  costText,
  formatBytes,
  formatClock,
  formatCompact,
  formatCost,
  formatDate,
  formatDuration,
  formatExactCost,
  formatExactTime,
  formatNumber,
  formatPercent,
  formatRelativeTime,
  plural,
  relativeTimeStaysFor,
} from './format.ts'

const now = Date.parse('2026-03-12T12:00:00Z')
const british = { language: 'en-GB', timeZone: 'UTC' }

function each<Input>(give: (input: Input) => string, table: [Input, string][]): void {
  for (const [input, words] of table) assert.equal(give(input), words, `of ${String(input)}`)
}

describe('times', () => {
  it('use the largest fitting unit for past and future times', () => {
    each(
      (seconds: number) => formatRelativeTime(now + seconds * 1000, now, british),
      [
        [0, 'just now'],
        [-9, 'just now'],
        [-42, '42 s ago'],
        [-59 * 60 - 59, '59 min ago'],
        [-3600, '1 h ago'],
        [-86_399, '23 h ago'],
        [-86_400, '1 day ago'],
        [-27 * 86_400, '27 days ago'],
        [7200, 'in 2 h'],
      ],
    )
  })
  it('show the date beyond four weeks, with the year when it differs', () => {
    assert.equal(formatRelativeTime(Date.parse('2026-01-02T00:00:00Z'), now, british), '2 Jan')
    assert.equal(formatRelativeTime(Date.parse('2025-12-31T23:00:00Z'), now, british), '31 Dec 2025')
    assert.equal(
      formatDate(Date.parse('2025-12-31T23:30:00Z'), now, { ...british, timeZone: 'Asia/Tokyo' }),
      '1 Jan',
    )
  })
  it("show the second and the user's time zone", () => {
    const at = Date.parse('2026-07-01T10:05:09Z')
    assert.equal(
      formatExactTime(at, { language: 'en-GB', timeZone: 'Europe/Berlin' }),
      '1 Jul 2026, 12:05:09 CEST',
    )
    assert.equal(formatClock(at, { language: 'en-GB', timeZone: 'Asia/Kolkata' }), '15:35')
    const morning = Date.parse('2026-07-01T06:00:00Z')
    assert.equal(formatClock(morning, { language: 'en-GB', timeZone: 'UTC' }), '06:00')
    // Between the time and AM is a narrow space.
    assert.match(formatClock(morning, { language: 'en-US', timeZone: 'UTC' }), /^6:00\sAM$/)
  })
  it('refresh often for recent times and rarely for old ones', () => {
    assert.equal(relativeTimeStaysFor(now - 5000, now), 10_000)
    assert.equal(relativeTimeStaysFor(now - 300_000, now), 30_000)
    assert.equal(relativeTimeStaysFor(now - 5 * 3_600_000, now), 600_000)
    assert.equal(relativeTimeStaysFor(now - 5 * 86_400_000, now), 3_600_000)
  })
})

describe('durations', () => {
  it('use two units at most and never round up to a full larger one', () => {
    each(formatDuration, [
      [0, '0 ms'],
      [999.4, '999 ms'],
      [999.6, '1 s'],
      [3200, '3.2 s'],
      [9960, '10 s'],
      [59_400, '59 s'],
      [59_960, '1m'],
      [250_000, '4m 10s'],
      [3_599_600, '1h'],
      [7_500_000, '2h 5m'],
      [273_600_000, '3d 4h'],
      [-1500, '−1.5 s'],
    ])
  })
})

describe('costs', () => {
  it('are marked where they are estimates', () => {
    assert.deepEqual([costText(0.0123, true), costText(0.0123, false)], ['≈$0.012', '$0.012'])
  })

  it('show two significant digits for small amounts, else cents', () => {
    each(formatCost, [
      [0, '$0.00'],
      [0.00000001, '<$0.0001'],
      [0.0001234, '$0.00012'],
      [0.004213, '$0.0042'],
      [0.0999, '$0.10'],
      [0.42, '$0.42'],
      [0.996, '$1.00'],
      [1.2345, '$1.20'],
      [12.345, '$12.35'],
      [1234.5, '$1,235'],
      [-0.5, '−$0.50'],
    ])
  })
  it('show micro-dollars on request', () => {
    each(formatExactCost, [
      [0, '$0.00'],
      [0.004213, '$0.004213'],
      [1.5, '$1.50'],
      [12_345.678901, '$12,345.678901'],
      [-0.25, '−$0.25'],
    ])
  })
})

describe('amounts', () => {
  it('count bytes in powers of 1024', () => {
    each(formatBytes, [
      [0, '0 B'],
      [1023, '1023 B'],
      [1024, '1 KB'],
      [1536, '1.5 KB'],
      [1_048_575, '1 MB'],
      [25_165_824, '24 MB'],
      [1.5 * 1024 ** 5, '1.5 PB'],
    ])
  })
  it('group or shorten numbers', () => {
    assert.equal(formatNumber(1_234_567, { language: 'en-US' }), '1,234,567')
    each(formatCompact, [
      [940, '940'],
      [999.9, '1k'],
      [12_400, '12.4k'],
      [240_000, '240k'],
      [3_100_000, '3.1M'],
      [2.5e9, '2.5B'],
    ])
  })
  it('never round up to 100% or down to 0%', () => {
    each(formatPercent, [
      [0, '0%'],
      [0.001, '<1%'],
      [0.934, '93%'],
      [0.991, '99%'],
      [0.999, '>99%'],
      [1, '100%'],
    ])
  })
  it('agree with the number', () => {
    assert.equal(plural(1, 'run'), '1 run')
    assert.equal(plural(0, 'run'), '0 runs')
    assert.equal(plural(1200, 'reply', 'replies'), '1,200 replies')
  })
})
