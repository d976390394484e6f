import assert from 'node:assert/strict'
import { test } from 'node:test'
import { periodOf } from './period.ts'

const now = Date.parse('2026-03-01T00:30:00.000Z')

test('an address names a period or its days', () => {
  const cases = [
    [{}, '30d', '2026-01-31', '2026-03-01'],
    [{ period: 'nonsense' }, '30d', '2026-01-31', '2026-03-01'],
    [{ period: '7d' }, '7d', '2026-02-23', '2026-03-01'],
    [{ period: '90d' }, '90d', '2025-12-02', '2026-03-01'],
    [{ period: 'month' }, 'month', '2026-03-01', '2026-03-01'],
    [{ period: 'last-month' }, 'last-month', '2026-02-01', '2026-02-28'],
    [{ period: '7d', from: '2026-01-02', to: '2026-01-03' }, 'custom', '2026-01-02', '2026-01-03'],
    [{ from: '2026-01-02' }, 'custom', '2026-01-02', '2026-03-01'],
  ] as const
  for (const [search, name, from, to] of cases) assert.deepEqual(periodOf(search, now), { name, from, to })
})
