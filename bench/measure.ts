/** Medians of runs that alternate with the peer, so that both see the same noise. */
export function median(values: number[]): number {
  return quantile(values, 0.5)
}

export function quantile(values: number[], q: number): number {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(q * sorted.length))] ?? Number.NaN
}

export async function milliseconds(act: () => Promise<unknown>): Promise<number> {
  const started = performance.now()
  await act()
  return performance.now() - started
}

/** Runs both alternately and returns both series. */
export async function alternate(
  times: number,
  ours: () => Promise<number>,
  peer: () => Promise<number>,
): Promise<{ ours: number[]; peer: number[] }> {
  const result = { ours: [] as number[], peer: [] as number[] }
  for (let round = 0; round < times; round += 1) {
    const order = round % 2 === 0 ? (['ours', 'peer'] as const) : (['peer', 'ours'] as const)
    for (const side of order) result[side].push(await (side === 'ours' ? ours() : peer()))
  }
  return result
}

export type Row = { row: string; ours: string; peer: string; value: number; limit: string; ok: boolean }

const rows: Row[] = []

/** Prints one line of the result and stores it for `report`. */
export function record(row: Row): void {
  rows.push(row)
  console.log(
    `${row.ok ? 'ok  ' : 'MISS'} ${row.row}: ours ${row.ours}, peer ${row.peer}, ${row.value.toFixed(2)} (${row.limit})`,
  )
}

/** Records both sides. The 95th percentile of ours has the limit in milliseconds; infinity means none. */
export function compare(row: string, ours: number[], peer: number[], limit: number): void {
  const p95 = quantile(ours, 0.95)
  record({
    row: `${row}, median (p95)`,
    ours: `${ms(median(ours))} (${ms(p95)})`,
    peer: `${ms(median(peer))} (${ms(quantile(peer, 0.95))})`,
    value: median(ours) / median(peer),
    limit: Number.isFinite(limit) ? `p95 ≤ ${limit} ms` : 'no limit',
    ok: p95 <= limit,
  })
}

export function report(): never {
  console.log(JSON.stringify(rows))
  process.exit(rows.length > 0 && rows.every((row) => row.ok) ? 0 : 1)
}

export const ms = (value: number): string => `${value.toFixed(1)} ms`
