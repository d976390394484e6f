import { formatCost, formatExactCost } from '../lib/format.ts'

/** Dollars with two significant digits, exact on hover; null, not known, is shown as a dash. */
export function Cost({ usd, className }: { usd: number | null | undefined; className?: string }) {
  if (usd === null || usd === undefined) return <span className="text-faint">–</span>
  return (
    <span data-numeric title={formatExactCost(usd)} className={className}>
      {formatCost(usd)}
    </span>
  )
}
